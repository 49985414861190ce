import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

Deno.test("a second process on the same database is refused with a clear message, and the first continues", () =>
  withFolder(async (folder) => {
    const environment = { EVAL_DATA: `${folder}/eval.db` };
    await using first = await startServiceProcess("eval", { environment });
    const failure = await startServiceProcess("eval", { environment })
      .then(() => "it started", (error: Error) => error.message);
    assertStringIncludes(
      failure,
      `cannot open EVAL_DATA=${environment.EVAL_DATA}: another process is using it`,
    );
    assert(!/\bat .*\.ts:\d+/.test(failure), `a stack trace:\n${failure}`);
    assertEquals((await (await fetch(`${first.url}/runs`)).json()).runs, []);
  }));

Deno.test("the lock file of a killed process does not stop the next process", () =>
  withFolder(async (folder) => {
    const environment = { EVAL_DATA: `${folder}/eval.db` };
    await using first = await startServiceProcess("eval", { environment });
    first.kill("SIGKILL");
    await first.status;
    assert((await Deno.stat(`${environment.EVAL_DATA}.lock`)).isFile);
    await using second = await startServiceProcess("eval", { environment });
    assertEquals((await (await fetch(`${second.url}/runs`)).json()).runs, []);
  }));
