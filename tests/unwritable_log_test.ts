import { assert, assertEquals } from "@std/assert";
import { freePort } from "./fakes/free_port.ts";
import { programOf } from "./fakes/service_process.ts";
import { withFolder } from "./fakes/with_folder.ts";
import { until } from "./fakes/until.ts";

Deno.test({
  name: "a service whose log cannot be written answers requests and stops as usual",
  ignore: Deno.build.os !== "linux", // /dev/full
  async fn(t) {
    for (const service of ["agent", "eval"] as const) {
      for (const LOG_FORMAT of ["json", "text"]) {
        await t.step(
          `${service}, ${LOG_FORMAT}`,
          () => withFolder((cwd) => answerWithoutLog(service, { cwd, LOG_FORMAT })),
        );
      }
    }
  },
});

async function answerWithoutLog(
  service: "agent" | "eval",
  { cwd, LOG_FORMAT }: { cwd: string; LOG_FORMAT: string },
): Promise<void> {
  const port = String(freePort());
  const { program, args } = programOf(service);
  const child = new Deno.Command("sh", {
    args: ["-c", `exec "$0" "$@" > /dev/full`, program, ...args],
    cwd,
    env: { AGENT_PORT: port, EVAL_PORT: port, LOG_FORMAT },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let hasEnded = false;
  const output = child.output().finally(() => hasEnded = true);

  const url = `http://127.0.0.1:${port}/healthz`;
  await until(async () => hasEnded || await answers(url));
  if (!hasEnded) {
    for (let i = 0; i < 5; i++) assert(await answers(url), "it ended with a request's line");
    child.kill("SIGTERM");
  }
  const { code, stderr } = await output;
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await (await fetch(url)).json()).status === "ok";
  } catch {
    return false;
  }
}
