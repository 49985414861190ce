import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { leftByAnother } from "../../fakes/left_run.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

Deno.test("an unfinished run is resumed: the remaining turns are asked, with the stored history", async () => {
  const { store, id } = await leftByAnother();
  const { runs, asked } = evalService((conversation) => `re: ${conversation.length}`, { store });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  assertEquals(asked.map((conversation) => conversation.length), [3, 5]);
  assertEquals(asked[0]?.[1], { role: "assistant", content: "reply 0.0.0" });
  const run = await store.getRun(id);
  assertEquals([run?.status, run?.tally?.done, run?.tally?.lastSeq], ["completed", 3, 3]);
});

Deno.test("a run whose last turn was stored but whose end was not is completed without a call", async () => {
  const { store, id } = await leftByAnother({ turns: 1 });
  const { runs, asked } = evalService(() => "", { store });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  assertEquals([asked.length, (await store.getRun(id))?.status], [0, "completed"]);
});

Deno.test("a resumed run does not ask a failed turn again", async () => {
  const { store, id } = await leftByAnother({ turns: 2 });
  const failure = { code: "provider_error", status: 500, detail: "d" };
  await store.recordTurn(id, storedTurn([0, 0, 1], { error: failure }));
  const { runs, asked } = evalService(() => "", { store });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  assertEquals(asked.length, 0);
});

Deno.test("a run that is resumed after any turn has the same conversation as one without interruption", async () => {
  const request = evaluateRequest({ turns: 5 });
  const failing = request.test_batch[0]!.interactions[2]!.user_message;
  /** Replies with the number of messages it received, and never answers the third turn. */
  const start = (store = memoryStore()) =>
    evalService((conversation) => {
      if (conversation.at(-1)!.content === failing) throw providerError(500);
      return conversation.map(({ content }) => content).join("|");
    }, { store });
  const repliesOf = async ({ store }: { store: RunStore }, id: string) =>
    (await Array.fromAsync(store.turns(id))).map(({ result }) => result.agent_reply);

  const undisturbed = start();
  const { id } = await undisturbed.store.createRun({ request, testName: "t" });
  await undisturbed.runs.resumeUnfinished();
  await undisturbed.runs.active(id)?.ended;
  const turns = await Array.fromAsync(undisturbed.store.turns(id));
  const expected = await repliesOf(undisturbed, id);
  assertEquals(expected.map((reply) => reply === "Request failed"), [
    false,
    false,
    true,
    false,
    false,
  ]);

  for (let done = 0; done <= 5; done++) {
    const resumed = start();
    const left = await resumed.store.createRun({ request, testName: "t" });
    for (const turn of turns.slice(0, done)) await resumed.store.recordTurn(left.id, turn);
    await resumed.runs.resumeUnfinished();
    await resumed.runs.active(left.id)?.ended;
    assertEquals(await repliesOf(resumed, left.id), expected, `after ${done} turns`);
    assertEquals(resumed.asked.length, 5 - done);
  }
});

Deno.test("unfinished runs can be marked as interrupted instead, without a call", async () => {
  const { store, id } = await leftByAnother();
  const { runs, asked } = evalService(() => "", { store });
  await runs.interruptUnfinished();
  const run = await store.getRun(id);
  assertEquals([run?.status, run?.tally?.done, asked.length], ["interrupted", 1, 0]);
  await runs.resumeUnfinished(); // not unasked
  assertEquals(asked.length, 0);
  await (await runs.resume(run!)).ended;
  assertEquals((await store.getRun(id))?.status, "completed");
});

Deno.test("unfinished runs are resumed within EVAL_MAX_RUNS, oldest first, the others as runs end", async () => {
  const store = memoryStore();
  const ids: string[] = [];
  for (let run = 0; run < 5; run++) {
    ids.push((await store.createRun({ request: evaluateRequest(), testName: `${run}` })).id);
  }
  const gate = gatedTarget();
  const environment = { EVAL_MAX_RUNS: "2" };
  const { runs, service } = evalService(() => "", { store, target: gate.target, environment });
  const look = async (id: string, init: RequestInit = {}, rest = "") => {
    const response = await service(new Request(`http://127.0.0.1:8080/runs/${id}${rest}`, init));
    return { status: response.status, body: response.body && await response.json() };
  };
  await runs.queueUnfinished();
  assertEquals((await look(ids[0]!)).body.status, "running");
  await runs.resumeUnfinished();
  await gate.reached(2);
  assertEquals(ids.map((id) => runs.active(id) !== undefined), [true, true, false, false, false]);

  const { body: waiting } = await look(ids[3]!);
  assertEquals([waiting.status, waiting.progress.done, waiting.progress.total], ["running", 0, 1]);
  assertEquals(
    waiting.detail,
    "the run is queued: the limit of running runs is reached (EVAL_MAX_RUNS)",
  );
  assertEquals((await look(ids[3]!, { method: "DELETE" })).status, 409);
  assertEquals((await look(ids[4]!, { method: "POST" }, "/cancel")).body.status, "cancelled");
  await assertRejects(
    () => runs.start({ request: evaluateRequest(), testName: "new" }),
    AppError,
    "too many runs: 2 are running (EVAL_MAX_RUNS)",
  );

  const events = ids.slice(0, 4).map((id) =>
    service(new Request(`http://127.0.0.1:8080/runs/${id}/events`))
  );
  gate.open();
  for (const response of events) {
    const told = await (await response).text();
    assertStringIncludes(told, "event:turn");
    assertStringIncludes(told, "event:result");
  }
  const statuses = await Promise.all(ids.map(async (id) => (await store.getRun(id))?.status));
  assertEquals(statuses, ["completed", "completed", "completed", "completed", "cancelled"]);
  assertEquals(gate.asked.length, 4);
});
