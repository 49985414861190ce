import { assert, assertEquals } from "@std/assert";
import { commandOf, type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";
import { compareJson, compareText, refreshJson } from "./answers.ts";
import { type Block, type Page, readPages } from "./pages.ts";

/** Run, with what the block below shows compared with what they print. */
const RUN = "sh";
const ANSWERS = ["json", "text"];
/**
 * Not run. `console`: commands that install, build or need root; `ini`, `jsonc`, `nginx`, `dotenv`:
 * parts of files. `tsx`, `js`: pages that `tests/pages/frontends_page.ts` opens.
 */
const NOT_RUN = ["console", "ini", "jsonc", "nginx", "dotenv", "tsx", "js"];

/** Writes what was printed into the pages instead of comparing. */
const isUpdating = Deno.env.get("UPDATE_DOCS") === "1";

interface Services {
  agent: ServiceProcess;
  eval: ServiceProcess;
}

const pages = readPages();

Deno.test("every block of a document is run, is an answer, or is listed as neither", () => {
  const known = [RUN, ...ANSWERS, ...NOT_RUN];
  const unknown = pages.flatMap(({ path, blocks }) =>
    blocks.filter(({ language }) => !known.includes(language))
      .map(({ language, line }) => `${path}:${line}: "${language}"`)
  );
  assertEquals(unknown, []);
});

Deno.test("every command of the documents does and prints what they show", async (t) => {
  const environment = { HUB_BARE_MODELS: "off" }; // as it is by default
  await using agent = await startServiceProcess("agent", { environment });
  await using evaluation = await startServiceProcess("eval");
  const services = { agent, eval: evaluation };
  for (const page of pages) {
    if (!page.blocks.some(({ language }) => language === RUN)) continue;
    await t.step(page.path, async () => { // one page at a time: `/readyz` is 503 if all is slow
      const printed = await runPage(page, services);
      if (isUpdating) await update(page, printed);
      else assertAsShown(compare(page, printed));
    });
  }
  await t.step("every route that a page names is there", async () => {
    const routes = await routesOf(services);
    const unknown = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`([A-Z]+ \/[^`\s?]*)/g)].map((match) => withoutNames(match[1]!))
        .filter((route) => !routes.has(route)).map((route) => `${path}: ${route}`)
    );
    assertEquals(unknown, []);
  });
});

function assertAsShown(differences: string[]): void {
  const hint = "UPDATE_DOCS=1 writes what was printed into the pages; see CONTRIBUTING.md";
  assert(differences.length === 0, [...differences, hint].join("\n"));
}

interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

const ROOT = new URL("../../", import.meta.url).pathname;

/** Runs a page's commands in one shell, so that a later block has the variables of an earlier one. */
async function runPage(page: Page, services: Services): Promise<Output[]> {
  const folder = await Deno.makeTempDir();
  try {
    await prepareFolder(folder, services);
    const blocks = page.blocks.filter(({ language }) => language === RUN);
    const script = blocks.map(({ text }, index) =>
      `{\n${toReal(text, services)}\n} > out.${index} 2> err.${index}; echo $? > code.${index}`
    ).join("\n");
    await new Deno.Command("sh", {
      args: ["-c", script],
      cwd: folder,
      env: { PATH: `${folder}/bin:${Deno.env.get("PATH")}`, EVAL_DATA: "./data/eval.db" },
      stdin: "null",
    }).output();
    const read = (name: string) => toShown(Deno.readTextFileSync(`${folder}/${name}`), services);
    return blocks.map((_, index) => ({
      code: Number(read(`code.${index}`)),
      stdout: read(`out.${index}`),
      stderr: read(`err.${index}`),
    }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a reader has: the examples of the repository, and the command line. */
async function prepareFolder(folder: string, services: Services): Promise<void> {
  await Deno.mkdir(`${folder}/docs/examples`, { recursive: true });
  for (const { name } of Deno.readDirSync(`${ROOT}docs/examples`)) {
    const text = Deno.readTextFileSync(`${ROOT}docs/examples/${name}`);
    await Deno.writeTextFile(`${folder}/docs/examples/${name}`, toReal(text, services));
  }
  await Deno.mkdir(`${folder}/bin`);
  const words = [Deno.execPath(), ...commandOf("eval")].map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(`${folder}/bin/assay-eval`, `#!/bin/sh\nexec ${words} "$@"\n`, {
    mode: 0o755,
  });
}

function toReal(text: string, { agent, eval: evaluation }: Services): string {
  return text.replaceAll("http://127.0.0.1:8000", agent.url)
    .replaceAll("http://127.0.0.1:8080", evaluation.url);
}

function toShown(text: string, { agent, eval: evaluation }: Services): string {
  return text.replaceAll(agent.url, "http://127.0.0.1:8000")
    .replaceAll(evaluation.url, "http://127.0.0.1:8080").replaceAll("\r\n", "\n");
}

/** The commands of a page with the answers that it shows for them. */
function examplesOf({ blocks }: Page): { command: Block; answer: Block | undefined }[] {
  return blocks.flatMap((command, index) => {
    if (command.language !== RUN) return [];
    const next = blocks[index + 1];
    const isAnswer = next?.isAdjacent && ANSWERS.includes(next.language);
    return [{ command, answer: isAnswer ? next : undefined }];
  });
}

function compare(page: Page, outputs: Output[]): string[] {
  return examplesOf(page).flatMap(({ command, answer }, index) => {
    const { code, stdout, stderr } = outputs[index]!;
    const found = code === 0 ? compareAnswer(answer, stdout) : [`exit code ${code}: ${stderr}`];
    return found.map((difference) => `${page.path}:${command.line}: ${difference}`);
  });
}

function compareAnswer(answer: Block | undefined, stdout: string): string[] {
  if (!answer) return stdout.includes('"type":"about:blank"') ? [`an error: ${stdout}`] : [];
  if (answer.language === "text") return compareText(answer.text, stdout);
  return compareJson(JSON.parse(answer.text), parse(stdout));
}

function parse(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}

/** Writes what was printed into the page, where that differs from what it shows. */
async function update(page: Page, outputs: Output[]): Promise<void> {
  let text = page.text;
  for (const [index, { answer }] of examplesOf(page).entries()) {
    const { stdout } = outputs[index]!;
    if (!answer || compareAnswer(answer, stdout).length === 0) continue;
    const fresh = answer.language === "text"
      ? stdout
      : JSON.stringify(refreshJson(JSON.parse(answer.text), parse(stdout)), null, 2);
    const lines = text.split("\n");
    const [before, after] = [lines.slice(0, answer.line), lines.slice(answer.line).join("\n")];
    text = `${before.join("\n")}\n${after.replace(answer.text, () => `${fresh.trimEnd()}\n`)}`;
  }
  await Deno.writeTextFile(page.url, text);
}

/** `GET /runs/{id}` and so on, those of both services. */
async function routesOf(services: Services): Promise<Set<string>> {
  const described = await Promise.all(
    Object.values(services).map(async ({ url }) => {
      const response = await fetch(`${url}/openapi.json`);
      const { paths } = await response.json() as { paths: Record<string, Record<string, unknown>> };
      return Object.entries(paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => withoutNames(`${method.toUpperCase()} ${path}`))
      );
    }),
  );
  return new Set(["GET /docs", "GET /llms.txt", ...described.flat()]);
}

/** A route whatever its parameters are called: `GET /runs/{}`. */
function withoutNames(route: string): string {
  return route.replaceAll(/\{\w+\}/g, "{}");
}
