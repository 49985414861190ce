import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/dotenv";
import { AgentConfig } from "../agent/config.ts";
import { EvalConfig } from "../eval/config.ts";
import { parseConfig } from "../shared/config.ts";
import { permissionFlags } from "../.ci/task_flags.ts";

const ROOT = new URL("../", import.meta.url);
const ROOMS = ["agent", "eval", "shared"] as const;

interface Source {
  path: string;
  text: string;
}

function* readSources(folder: string): Generator<Source> {
  for (const entry of Deno.readDirSync(new URL(folder, ROOT))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* readSources(path);
    else if (/(?<!\.d)\.ts$/.test(path)) {
      yield { path, text: Deno.readTextFileSync(new URL(path, ROOT)) };
    }
  }
}

const sources = ROOMS.flatMap((room) => [...readSources(room)]);

function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) =>
    match[1]!
  );
  return specifiers.map((specifier) =>
    specifier.startsWith(".")
      ? new URL(specifier, new URL(path, ROOT)).href.slice(ROOT.href.length)
      : specifier
  );
}

Deno.test("agent and eval never import each other, and shared imports neither", () => {
  for (const source of sources) {
    const [room] = source.path.split("/");
    const others = ROOMS.filter((other) => other !== room && other !== "shared");
    for (const imported of importsOf(source)) {
      assert(
        !others.some((other) => imported.startsWith(`${other}/`)),
        `${source.path} imports ${imported}`,
      );
    }
  }
});

/** Inside a service a folder does not import the folder that uses it. */
const FORBIDDEN_ARROWS = [
  ["eval/store", "eval/run"],
  ["eval/store", "eval/endpoint"],
  ["eval/store", "eval/assess"],
  ["eval/endpoint", "eval/run"],
  ["eval/endpoint", "eval/store"],
  ["eval/assess", "eval/run"],
  ["eval/assess", "eval/store"],
] as const;

for (const [folder, forbidden] of FORBIDDEN_ARROWS) {
  Deno.test(`${folder} does not import ${forbidden}`, () => {
    for (const source of sources.filter(({ path }) => path.startsWith(`${folder}/`))) {
      for (const imported of importsOf(source)) {
        assert(!imported.startsWith(`${forbidden}/`), `${source.path} imports ${imported}`);
      }
    }
  });
}

Deno.test("only main and config read the environment", () => {
  for (const { path, text } of sources) {
    if (/(main|config)\.ts$/.test(path)) continue;
    assert(!/Deno\.env|process\.env/.test(text), `${path} reads the environment`);
  }
});

Deno.test("one file imports npm:openai", () => {
  const importers = sources.filter((source) =>
    importsOf(source).some((imported) => /^openai(\/|$)/.test(imported))
  );
  assertEquals(importers.map(({ path }) => path), ["shared/providers/openai.ts"]);
});

Deno.test("importing any module starts nothing", async () => {
  const script = sources.map(({ path }) => `await import("${new URL(path, ROOT)}");`).join("\n");
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, script);
  try {
    // Nothing is granted but what reading a module takes; a server or a timer would keep it running.
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--ignore-env",
        `--config=${new URL("deno.json", ROOT).pathname}`,
        file,
      ],
    }).output();
    const text = new TextDecoder();
    assertEquals([code, text.decode(stdout), text.decode(stderr)], [0, "", ""]);
  } finally {
    await Deno.remove(file);
  }
});

const SERVICES = [
  { name: "agent", schema: AgentConfig },
  { name: "eval", schema: EvalConfig },
] as const;

for (const { name, schema } of SERVICES) {
  Deno.test(`${name} may read the variables of its configuration, and no other`, () => {
    const allowed = permissionFlags(name).find((flag) => flag.startsWith("--allow-env="))!
      .slice("--allow-env=".length).split(",");
    const covers = (pattern: string, variable: string) =>
      pattern.endsWith("*") ? variable.startsWith(pattern.slice(0, -1)) : variable === pattern;
    const variables = Object.keys(schema.shape);
    for (const variable of variables) {
      assert(allowed.some((pattern) => covers(pattern, variable)), `${variable} is not allowed`);
    }
    for (const pattern of allowed) {
      assert(variables.some((variable) => covers(pattern, variable)), `${pattern} is not needed`);
    }
    assert(permissionFlags(name).includes("--ignore-env"));
  });

  Deno.test(`.env.example and the README list every variable of ${name}`, () => {
    const example = Deno.readTextFileSync(new URL(".env.example", ROOT));
    const readme = Deno.readTextFileSync(new URL("README.md", ROOT));
    for (const variable of Object.keys(schema.shape)) {
      assert(variable in parse(example), `${variable} is not in .env.example`);
      assert(readme.includes(`\`${variable}\``), `${variable} is not in the README`);
    }
  });

  Deno.test(`the values in .env.example are the defaults of ${name}`, () => {
    const example = parse(Deno.readTextFileSync(new URL(".env.example", ROOT)));
    const own = Object.fromEntries(Object.keys(schema.shape).map((key) => [key, example[key]]));
    assertEquals<unknown>(parseConfig(schema, own), parseConfig(schema, {}));
  });
}

Deno.test("the services' sandbox is as small as it was: it grows only on purpose", () => {
  const granted = SERVICES.map(({ name }) =>
    permissionFlags(name).filter((flag) => !flag.includes("-env"))
  );
  assertEquals(granted, [
    // The null device is opened to count how many files the process may open.
    ["--allow-net", "--allow-read=.env,mcp.json,/dev/null"],
    // Only the configuration says where the data is; `main.ts` gives up writing once it knows.
    ["--allow-net", "--allow-read", "--allow-write"],
  ]);
});

Deno.test("every worker has a file name of its own: a bundle tells them apart by nothing else", () => {
  const pattern = /new Worker\(\s*new URL\("\.\/([^"]+)", import\.meta\.url\)/g;
  const code = sources.map(({ text }) => text.replaceAll(/\/\*\*[^]*?\*\//g, "")); // not in comments
  const names = code.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1]!));
  assertEquals(names.toSorted(), [
    "encoder_worker.ts",
    "long_text_worker.ts",
    "page_worker.ts",
    "sqlite_worker.ts",
  ]);
});
