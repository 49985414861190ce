import { assert } from "@std/assert";
import { ROOT } from "./fakes/source_files.ts";
import { freePort } from "./fakes/free_port.ts";
import { until } from "./fakes/until.ts";

async function answers(port: number): Promise<boolean> {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).status === "ok";
  } catch {
    return false;
  }
}

Deno.test("dev starts a service again when its source changes, and ends with what started it", async () => {
  const [AGENT_PORT, EVAL_PORT] = [freePort(), freePort()];
  const EVAL_DATA = ":memory:";
  // A shell in between, as npx has it; it is killed, and not the task.
  const shell = new Deno.Command("sh", {
    args: ["-c", '"$0" task -q dev & wait', Deno.execPath()],
    cwd: ROOT,
    env: { AGENT_PORT: `${AGENT_PORT}`, EVAL_PORT: `${EVAL_PORT}`, EVAL_DATA },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let printed = "";
  const read = (async () => {
    for await (const text of shell.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  try {
    const within = 60_000;
    await until(() => answers(AGENT_PORT), { within });
    await until(() => answers(EVAL_PORT), { within });
    const source = new URL("agent/main.ts", ROOT);
    await Deno.utime(source, new Date(), new Date());
    const starts = () => printed.split("assay-agent listens on").length - 1;
    await until(() => starts() >= 2, { within });
    await until(() => answers(AGENT_PORT), { within });
  } finally {
    shell.kill("SIGKILL");
    await shell.status;
  }
  await read; // the last process that holds its output has ended
  assert(!await answers(AGENT_PORT) && !await answers(EVAL_PORT));
});
