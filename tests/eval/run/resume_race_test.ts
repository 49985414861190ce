import { assertEquals, assertRejects } from "@std/assert";
import type { RunStore } from "../../../eval/store/store.ts";
import { AppError } from "../../../shared/errors.ts";
import { callRoute, evalService } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { leftByAnother } from "../../fakes/left_run.ts";

/** A run of which one of three turns is stored, and a store that waits before it counts the turns. */
async function leftAs(status: "running" | "interrupted") {
  const { store: inner, id } = await leftByAnother();
  if (status === "interrupted") await inner.setStatus(id, { status });
  const reached = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<void>();
  const store: RunStore = {
    ...inner,
    async tally(runId) {
      reached.resolve();
      await allowed.promise;
      return await inner.tally(runId);
    },
  };
  const { runs, asked } = evalService(() => "", { store });
  return { inner, id, runs, asked, reached: reached.promise, allow: allowed.resolve };
}

for (const end of ["cancelled", "deleted"] as const) {
  Deno.test(`a run that is ${end} while it is being resumed asks nothing, and its caller is told`, async () => {
    const { inner, id, runs, asked, reached, allow } = await leftAs("interrupted");
    const resumed = runs.resume((await inner.getRun(id))!);
    const refused = assertRejects(() => resumed, AppError, "it was ended or deleted meanwhile");
    await reached;
    if (end === "deleted") await inner.deleteRun(id);
    else await inner.setStatus(id, { status: "cancelled", from: ["running", "interrupted"] });
    allow();
    await refused;
    assertEquals([asked.length, runs.active(id)], [0, undefined]);
    assertEquals((await inner.getRun(id))?.status, end === "deleted" ? undefined : "cancelled");
  });
}

Deno.test("an unfinished run that is cancelled while it is being resumed asks nothing", async () => {
  const { inner, id, runs, asked, reached, allow } = await leftAs("running");
  const resumed = runs.resumeUnfinished();
  await reached;
  await inner.setStatus(id, { status: "cancelled", from: ["running"] });
  allow();
  await resumed;
  await runs.active(id)?.ended;
  assertEquals([asked.length, (await inner.getRun(id))?.status], [0, "cancelled"]);
});

Deno.test("a cancel that is stored just after the run was resumed ends the resumed run, too", async () => {
  const { store: inner, id } = await leftByAnother();
  await inner.setStatus(id, { status: "interrupted" });
  const cancelling = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const store: RunStore = {
    ...inner,
    async setStatus(runId, change) {
      if (change.status === "cancelled") {
        cancelling.resolve();
        await resumed.promise;
      }
      return await inner.setStatus(runId, change);
    },
  };
  const gate = gatedTarget();
  const { runs, service } = evalService(() => "", { store, target: gate.target });
  const cancelled = callRoute(service, `POST /runs/${id}/cancel`);
  await cancelling.promise;
  const active = await runs.resume((await inner.getRun(id))!);
  await gate.reached(1);
  resumed.resolve();
  assertEquals((await (await cancelled).json()).status, "cancelled");
  assertEquals((await active.ended).status, "cancelled");
  assertEquals([gate.asked.length, (await inner.tally(id)).done], [1, 1]);
});
