import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import * as observation from "../../../eval/ask/observation.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/service/config.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { createLogger, silentLogger } from "../../../shared/service/log.ts";
import { unavailable } from "../../../shared/service/postgres/fault.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { callRoute, evalService } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { leftByAnother } from "../../fakes/left_run.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

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

Deno.test("unfinished runs are resumed within MAX_RUNS, oldest first, the others as runs end", async () => {
  const store = memoryStore();
  const ids: string[] = [];
  for (let run = 0; run < 5; run++) {
    ids.push((await store.createRun({ request: evaluateRequest(), testName: `${run}` })).id);
  }
  const gate = gatedTarget();
  const environment = { MAX_RUNS: "2" };
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
    "the run is queued: the limit of running runs is reached (MAX_RUNS)",
  );
  assertEquals((await look(ids[3]!, { method: "DELETE" })).status, 409);
  assertEquals((await look(ids[4]!, { method: "POST" }, "/cancel")).body.status, "cancelled");
  await assertRejects(
    () => runs.start({ request: evaluateRequest(), testName: "new" }),
    AppError,
    "too many runs: 2 are running (MAX_RUNS)",
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

/** A logger, and the messages that it was given. */
function messageLog() {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line).message);
  return { lines, log: createLogger({ level: "info", format: "json", write }) };
}

Deno.test("a run that cannot be resumed is logged once, waits, and continues once it can", async () => {
  const { store: working, id } = await leftByAnother();
  let fails = 5;
  const store: RunStore = {
    ...working,
    getRun: (id) => fails-- > 0 ? Promise.reject(unavailable()) : working.getRun(id),
  };
  const { lines, log } = messageLog();
  const { runs } = evalService(() => "fine", { store, log });
  await runs.resumeUnfinished();
  assertEquals((await runs.end(id, new AbortController().signal)).status, "completed");
  assertEquals(lines, ["cannot resume a run", "run resumed"]);
});

interface StartOptions {
  environment?: Record<string, string>;
  /** The fault of the database when a turn is stored. */
  fault?: Error;
}

/** The log lines about an unfinished run of this endpoint at the next start. */
async function messagesAtStart(endpoint: string, { environment = {}, fault }: StartOptions = {}) {
  const { store: working, id } = await leftByAnother({ endpoint });
  const store = fault ? { ...working, recordTurn: () => Promise.reject(fault) } : working;
  const { lines, log } = messageLog();
  const { runs } = evalService(() => "fine", { store, log, environment });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  await runs.stop();
  await working.close();
  return lines;
}

Deno.test("a run whose endpoint is no longer allowed is said to be resumed, and then to fail", async () => {
  const allowed = { EVAL_ENDPOINTS: "https://other.example" };
  const messages = await messagesAtStart("http://127.0.0.1:9/v1", { environment: allowed });
  assertEquals(messages, ["run resumed", "run failed"]);
});

Deno.test("a run that waits for the database is said to be interrupted, not to fail", async () => {
  const messages = await messagesAtStart("http://127.0.0.1:9/v1", { fault: unavailable() });
  assertEquals(messages, ["run resumed", "run interrupted: the database failed"]);
});

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
      writing = store.describeRun(id, { tags: ["main"] }).then(() => void (isWritten = true));
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
