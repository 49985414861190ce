import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "yaml";
import { batchFile } from "../fakes/cli_context.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { withFolder } from "../fakes/with_folder.ts";
import { permissionFlags, unstableFlags } from "../../.ci/task_flags.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

interface Step {
  name?: string;
  uses?: string;
  if?: string;
  env?: Record<string, string>;
  run?: string;
}
type EventName = "push" | "pull_request_target";

const { jobs }: { jobs: Record<string, { if?: string; steps: Step[] }> } = parse(
  await Deno.readTextFile(`${ROOT}docs/examples/evaluate.yml`),
);

/** Values of the workflow's expressions. */
const known = (endpoint: string): Record<string, string> => ({
  "github.token": "t",
  "github.event.number": "7",
  "vars.ASSAY_REPOSITORY": "acme/assay",
  "vars.MODEL_ID": "m",
  "vars.MODEL_ENDPOINT": endpoint,
  "secrets.MODEL_API_KEY": "sk-test",
});

/** The conditions of the workflow that depend on the event. `comment.md` is there if a run ended. */
function holds(condition: string | undefined, event: EventName, hasFailed: boolean): boolean {
  if (condition === undefined) return !hasFailed;
  const isAlways = condition.includes("always()");
  return (isAlways || !hasFailed) && condition.includes(`github.event_name == '${event}'`);
}

/** `gh` as far as the workflow uses it: releases are this checkout, comments a folder of files. */
const fakeGh = (folder: string) =>
  `#!/usr/bin/env bash
set -e
case "$1 $*" in
  release*) while [ "$1" != --output ]; do shift; done; cp "${folder}/assay-eval" "$2" ;;
  *--jq*) grep -l '^<!-- assay-eval -->' "${folder}"/comments/* | xargs -r -n 1 basename ;;
  *PATCH*) cp body.md "${folder}/comments/\${4##*/}" ;;
  *) cp body.md "${folder}/comments/$((100 + $(ls "${folder}/comments" | wc -l)))" ;;
esac
`;

const program = () => {
  const flags = ["--no-prompt", ...unstableFlags("eval"), `--config=${ROOT}deno.json`];
  const words = [
    Deno.execPath(),
    "run",
    ...flags,
    ...permissionFlags("eval"),
    `${ROOT}eval/main.ts`,
  ];
  return `#!/usr/bin/env bash\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`;
};

async function sh(
  script: string,
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
) {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-e", "-c", script],
    cwd,
    env: { HOME: cwd, ...env },
  }).output();
  const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, text: read(stdout) + read(stderr), out: read(stdout) };
}

Deno.test("the workflow keeps a baseline, and two pushes to a pull request edit one comment", () =>
  withFolder(async (folder) => {
    await using endpoint = await startProviderDouble((request) => {
      const { messages } = request.body as { messages: { content: string }[] };
      return completion({ content: messages[0]!.content === "Be rude." ? "no" : "right" })(request);
    });
    const remote = `${folder}/acme/app`;
    const work = `${folder}/work`;
    await Deno.mkdir(`${folder}/comments`);
    await Deno.writeTextFile(`${folder}/assay-eval`, program(), { mode: 0o755 });
    await Deno.mkdir(`${folder}/bin`);
    await Deno.writeTextFile(`${folder}/bin/gh`, fakeGh(folder), { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/comments/100`, "a remark of somebody else\n");
    const git = "git -c user.name=ann -c user.email=ann@example.com -c init.defaultBranch=main";
    const setUp = await sh(`${git} init -q --bare '${remote}' && ${git} init -q work`, {
      cwd: folder,
    });
    assert(setUp.success, setUp.text);

    /** Commits the batch and pushes it; scenario 3 has a system prompt of its own. */
    async function push(branch: string, prompt: string): Promise<void> {
      const scenarios = batchFile(12).split("\n").map((line) => JSON.parse(line));
      scenarios[3].system_prompt = prompt;
      const batch = scenarios.map((one) => JSON.stringify(one)).join("\n");
      await Deno.mkdir(`${work}/tests`, { recursive: true });
      await Deno.writeTextFile(`${work}/tests/support.jsonl`, batch);
      const pushed = await sh(
        `git checkout -q -B ${branch} && git add tests && ${git} commit -q --allow-empty -m x &&
          git push -q '${remote}' ${branch}`,
        { cwd: work },
      );
      assert(pushed.success, pushed.text);
    }

    /** Runs the steps of a job; resolves with whether all passed. */
    async function runJob(name: string, { event, branch }: { event: EventName; branch: string }) {
      const cwd = `${folder}/job`;
      let hasFailed = false;
      let log = "";
      for (const step of jobs[name]!.steps) {
        if (!holds(step.if, event, hasFailed)) continue;
        if (step.uses?.startsWith("actions/checkout")) {
          const cloned = await sh(`rm -rf job && git clone -q -b ${branch} '${remote}' job`, {
            cwd: folder,
          });
          assert(cloned.success, cloned.text);
        } else if (step.uses?.includes("artifact")) {
          const [from, to] = step.uses.includes("upload") ? [cwd, folder] : [folder, cwd];
          await Deno.copyFile(`${from}/result.json`, `${to}/result.json`);
        } else {
          const values = known(endpoint.baseUrl);
          const own = Object.entries(step.env ?? {}).map(([key, value]) =>
            [key, values[/^\$\{\{ (\S+) \}\}$/.exec(value)![1]!]!] as const
          );
          const env = {
            PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
            GITHUB_SERVER_URL: `file://${folder}`,
            GITHUB_REPOSITORY: "acme/app",
            GITHUB_SHA: "abc",
            LOG_LEVEL: "warn",
            DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
            ...Object.fromEntries(own),
          };
          const { success, text } = await sh(step.run!, { cwd, env });
          log += `# ${step.name}\n${text}`;
          hasFailed ||= !success;
        }
      }
      return { passed: !hasFailed, log };
    }

    const comments = async () =>
      (await Array.fromAsync(Deno.readDir(`${folder}/comments`), ({ name }) => name)).toSorted();
    const comment = () => Deno.readTextFile(`${folder}/comments/101`);

    await push("main", "Be kind.");
    const main = await runJob("evaluate", { event: "push", branch: "main" });
    assert(main.passed, main.log);
    const kept = await runJob("keep-baseline", { event: "push", branch: "main" });
    assert(kept.passed, kept.log);
    assertEquals(await comments(), ["100"], "there is no pull request");

    await push("change", "Be rude.");
    const worse = await runJob("evaluate", { event: "pull_request_target", branch: "change" });
    assertEquals(worse.passed, false, worse.log);
    assertStringIncludes(worse.log, "gate not met: 1 new failure\n");
    assertEquals(await comments(), ["100", "101"]);
    assertStringIncludes(await comment(), "Evaluation `support`: 11 of 12 scenarios pass");

    await push("change", "Be polite.");
    const mended = await runJob("evaluate", { event: "pull_request_target", branch: "change" });
    assert(mended.passed, mended.log);
    assertEquals(await comments(), ["100", "101"], "the comment was edited");
    assertStringIncludes(await comment(), "Evaluation `support`: 12 of 12 scenarios pass");
  }));
