import { assert, assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import * as observation from "../../../eval/endpoint/observation.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

/** Another process that holds the database's lock until it is disposed of. */
async function holdLock(path: string): Promise<AsyncDisposable> {
  const code = `import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(path)});
    database.exec("begin immediate");
    console.log("held");
    for await (const _ of Deno.stdin.readable);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = child.stdout.getReader();
  await output.read();
  return {
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await output.cancel();
      await child.status;
    },
  };
}

Deno.test("a database lock of another process interrupts a run, which resumes once the lock is gone", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  const store = await openStore({ path, busyTimeoutMs: 20 });
  try {
    const gate = gatedTarget();
    const { service, runs } = evalService(() => "", { ...gate, store, recoveryDelayMs: 20 });
    const started = await runs.start({ request: evaluateRequest({ turns: 2 }), testName: "t" });
    if (started.outcome !== "started") throw new Error(started.outcome);
    const { active } = started;
    {
      await using _lock = await holdLock(path);
      gate.open();
      assertEquals((await active.ended).status, "interrupted");
      const view = await (await service(new Request(`http://127.0.0.1:8080/runs/${active.run.id}`)))
        .json();
      assertEquals(view.status, "interrupted");
      assert(view.detail.includes("another process holds the lock"), view.detail);
      const refused = await service(
        new Request("http://127.0.0.1:8080/evaluate", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(evaluateRequest()),
        }),
      );
      assertEquals([refused.status, (await refused.json()).code], [503, "storage_busy"]);
    }
    await until(async () => (await store.getRecord(active.run.id))?.status === "completed");
    // The second turn is asked again if its reply was being scored.
    assert(gate.asked.length <= 3, "a turn that was kept was asked again");
    await runs.stop();
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runs can be read, and /readyz answers, while another process locks the database", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  const store = await openStore({ path, busyTimeoutMs: 600_000 });
  try {
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    const config = parseConfig(EvalConfig, {});
    const service = createEvalHandler(
      createEvalDeps(config, { log: silentLogger, store, observation }),
    );
    const ask = (path: string) => service(new Request(`http://127.0.0.1:8080${path}`));
    let writing: Promise<void> | undefined;
    let isWritten = false;
    {
      await using _lock = await holdLock(path);
      writing = store.setTag("main", id).then(() => void (isWritten = true));
      for (const route of ["/runs", `/runs/${id}`, `/runs/${id}/turns`]) {
        const response = await ask(route);
        assertEquals([response.status, isWritten], [200, false], route);
        await response.body?.cancel();
      }
      const ready = await ask("/readyz");
      assertEquals([ready.status, isWritten], [503, false]);
      assertEquals((await ready.json()).reasons, { store: "no answer within 800 ms" });
    }
    await writing;
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});
