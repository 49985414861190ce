import { assertEquals, assertRejects } from "@std/assert";
import {
  createWorkerBoard,
  createWorkerCall,
  type WorkerCallOptions,
  type WorkerEvent,
  type WorkerPort,
  type WorkerRequest,
  type WorkerResponse,
  WorkerUnavailable,
} from "../../../shared/service/worker_call.ts";
import { createLogger } from "../../../shared/service/log.ts";

/** A worker in this thread: `answer` sees each message and may post back through the port. */
function fakeWorker(
  answer: (message: { id: number; input: string }, port: WorkerPort, life: number) => void,
) {
  const seen = { started: 0, terminated: 0, inputs: [] as string[] };
  const start = (): WorkerPort => {
    const life = ++seen.started;
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage(message: { id: number; input: string }) {
        seen.inputs.push(message.input);
        queueMicrotask(() => answer(message, port, life));
      },
      terminate: () => void seen.terminated++,
    };
    return port;
  };
  return { start, seen };
}

const post = (port: WorkerPort, data: unknown) =>
  port.onmessage?.call(port as Worker, new MessageEvent("message", { data }));

function kill(port: WorkerPort, message: string): void {
  const event = new ErrorEvent("error", { message, cancelable: true });
  port.onerror?.call(port as Worker, event);
  assertEquals(event.defaultPrevented, true);
}

/** The call under test, and what it reported about its worker. */
function watched(start: () => WorkerPort, options: WorkerCallOptions<string> = {}) {
  const events: WorkerEvent[] = [];
  const call = createWorkerCall<string, unknown>(start, {
    name: "test",
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { call, events, kinds: () => events.map(({ kind }) => kind) };
}

Deno.test("a worker is started at the first call, and once", async () => {
  const { start, seen } = fakeWorker(({ id, input }, port) => post(port, { id, output: input }));
  using call = createWorkerCall<string, string>(start);
  assertEquals(seen.started, 0);
  assertEquals(await Promise.all([call("a"), call("b")]), ["a", "b"]);
  assertEquals(seen.started, 1);
});

Deno.test("a worker has one call at a time", async () => {
  const held: number[] = [];
  const { start, seen } = fakeWorker(({ id }, port) => {
    held.push(id);
    assertEquals(held.length, 1);
    setTimeout(() => post(port, { id: held.pop(), output: id }));
  });
  using call = createWorkerCall<string, number>(start);
  await Promise.all([call("a"), call("b"), call("c")]);
  assertEquals(seen.inputs, ["a", "b", "c"]);
});

Deno.test("callers take turns, however many calls one of them has waiting", async () => {
  const { start, seen } = fakeWorker(({ id, input }, port) => post(port, { id, output: input }));
  using call = createWorkerCall<string, string>(start);
  const [busy, rare] = [{}, {}];
  await Promise.all([
    ...["a1", "a2", "a3", "a4"].map((input) => call(input, busy)),
    ...["b1", "b2"].map((input) => call(input, rare)),
    call("c"),
  ]);
  assertEquals(seen.inputs, ["a1", "a2", "b1", "c", "a3", "b2", "a4"]);
});

Deno.test("an error in one call does not affect the others", async () => {
  const { start } = fakeWorker(({ id, input }, port) =>
    post(port, input === "a" ? { id, error: "no" } : { id, output: "yes" })
  );
  using call = createWorkerCall<string, string>(start);
  await assertRejects(() => call("a"), Error, "no");
  assertEquals(await call("b"), "yes");
});

Deno.test("an input that cannot be cloned fails its call, and the worker keeps running", async () => {
  const { start, seen } = fakeWorker(({ id, input }, port) => post(port, { id, output: input }));
  const picky = () => {
    const port = start();
    const { postMessage } = port;
    port.postMessage = (message: { id: number; input: string }) => {
      if (message.input === "a") throw new DOMException("not cloneable", "DataCloneError");
      postMessage.call(port, message);
    };
    return port;
  };
  using call = createWorkerCall<string, string>(picky);
  const [bad, good] = await Promise.allSettled([call("a"), call("b")]);
  assertEquals([bad.status, good.status, seen.started], ["rejected", "fulfilled", 1]);
});

Deno.test("a worker that dies is started again, and the running call is tried once more", async () => {
  const { start, seen } = fakeWorker(({ id, input }, port, life) => {
    if (life === 1 && input === "b") kill(port, "out of luck");
    else post(port, { id, output: `${input}${life}` });
  });
  const { call, events } = watched(start);
  using _ = call;
  assertEquals(await Promise.all([call("a"), call("b"), call("c")]), ["a1", "b2", "c2"]);
  assertEquals([seen.started, seen.terminated], [2, 1]);
  assertEquals(events, [
    { kind: "died", reason: "out of luck", deaths: 1, failedStarts: 0, retryInMs: 0 },
    { kind: "restarted" },
    { kind: "recovered" },
  ]);
});

Deno.test("a call that kills its worker twice is given up, and the others are answered", async () => {
  const { start, seen } = fakeWorker(({ id, input }, port) =>
    input === "poison" ? kill(port, "poisoned") : post(port, { id, output: input })
  );
  const { call, events } = watched(start, { probe: () => "probe" });
  using _ = call;
  const outcomes = await Promise.allSettled(["poison", "b", "c"].map((input) => call(input)));
  assertEquals(outcomes.map(({ status }) => status), ["rejected", "fulfilled", "fulfilled"]);
  const { reason } = outcomes[0] as PromiseRejectedResult;
  assertEquals(reason instanceof WorkerUnavailable, true);
  assertEquals(reason.message, "the test worker is unavailable: poisoned");
  assertEquals(await call("d"), "d");
  assertEquals(seen.inputs, ["probe", "poison", "probe", "b", "c", "poison", "probe", "d"]);
  // The probe was answered each time: the worker can be started, whatever one call does to it.
  const deaths = events.filter((event) => event.kind === "died");
  assertEquals(deaths.map(({ failedStarts }) => failedStarts), [0, 0]);
});

Deno.test("a worker that cannot be started rejects its calls, and is tried again with growing delays", async () => {
  const { call, events } = watched(() => {
    throw new Error("not permitted");
  });
  using _ = call;
  const message = "the test worker is unavailable: not permitted";
  await assertRejects(() => call("a"), WorkerUnavailable, message);
  const deaths = events.filter((event) => event.kind === "died");
  assertEquals(deaths.map(({ failedStarts }) => failedStarts), [1, 2]);
  assertEquals(deaths.map(({ retryInMs }) => retryInMs), [0, 500]);
});

Deno.test("a worker that is down recovers by its probe, without a call", async () => {
  const recovered = Promise.withResolvers<void>();
  const { start } = fakeWorker(({ id, input }, port, life) =>
    life <= 2 ? kill(port, "no weights") : post(port, { id, output: input })
  );
  const events: string[] = [];
  using call = createWorkerCall<string, string>(start, {
    probe: () => "probe",
    onEvent({ kind }) {
      events.push(kind);
      if (kind === "recovered") recovered.resolve();
    },
  });
  const first = call("a"); // answered by the third worker
  await recovered.promise;
  assertEquals(await first, "a");
  assertEquals(events, ["died", "restarted", "died", "restarted", "recovered"]);
});

Deno.test("a worker whose every answer is an error counts as one that cannot be started", async () => {
  const { start } = fakeWorker(({ id }, port) => post(port, { id, error: "no weights" }));
  const died = Promise.withResolvers<WorkerEvent>();
  using call = createWorkerCall<string, string>(start, {
    probe: () => "probe",
    onEvent: (event) => event.kind === "died" && died.resolve(event),
  });
  call("a").catch(() => {}); // waits for the worker
  const event = await died.promise;
  assertEquals(event.kind === "died" && [event.reason, event.failedStarts], ["no weights", 1]);
});

Deno.test("ending a worker rejects what waits, and every later call", async () => {
  const { start, seen } = fakeWorker(() => {});
  const call = createWorkerCall<string, string>(start, { name: "test" });
  const waiting = [call("a"), call("b")];
  call[Symbol.dispose]();
  for (const each of [...waiting, call("c")]) {
    await assertRejects(() => each, WorkerUnavailable, "it was ended");
  }
  assertEquals(seen.terminated, 1);
});

function startFragile(): WorkerPort {
  return new Worker(new URL("../../fakes/fragile_worker.ts", import.meta.url), { type: "module" });
}

Deno.test("a real worker that throws, dies or hangs fails that call only", async () => {
  const { call, kinds } = watched(startFragile, { timeoutMs: 2_000, probe: () => "probe" });
  using _ = call;
  assertEquals(await call("a"), "a");
  const outcomes = await Promise.allSettled(
    ["throw", "die", "hang", "leave", "b"].map((order) => call(order)),
  );
  assertEquals(
    outcomes.map((outcome) => outcome.status === "fulfilled" ? "ok" : outcome.reason.message),
    [
      "no such text",
      "the test worker is unavailable: Uncaught Error: killed by the call",
      "the test worker took longer than 2 s",
      "the test worker took longer than 2 s",
      "ok",
    ],
  );
  assertEquals(await call("c"), "c");
  assertEquals(kinds().filter((kind) => kind === "died").length, 4);
});

Deno.test("a call without an end is stopped, and its thread is free for the next", async () => {
  const script = new URL("../../fakes/fragile_worker.ts", import.meta.url);
  const worker = new Worker(script, { type: "module" });
  const answered = Promise.withResolvers<WorkerResponse<string>>();
  worker.onmessage = ({ data }) => answered.resolve(data);
  const order = (request: WorkerRequest<string>) => worker.postMessage(request);
  order({ id: 1, input: "hang", limitMs: 20 });
  order({ id: 2, input: "b", limitMs: 60_000 });
  assertEquals(await answered.promise, { id: 2, output: "b" });
  worker.terminate();
});

const death = { kind: "died", reason: "no weights", deaths: 1, retryInMs: 0 } as const;

Deno.test("each death is logged, restarts are counted, and a worker is down once a restart fails", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const board = createWorkerBoard(log);
  const first = board.watch("encoder");
  const second = board.watch("encoder");
  board.watch("language");

  first({ ...death, failedStarts: 1 });
  first({ kind: "restarted" });
  assertEquals(board.check(), undefined);
  first({ ...death, deaths: 2, failedStarts: 2, retryInMs: 500 });
  second({ kind: "restarted" });
  second({ kind: "recovered" });
  assertEquals(board.check(), "the encoder worker cannot be started: no weights");
  first({ kind: "restarted" });
  first({ kind: "recovered" });
  assertEquals(board.check(), undefined);

  assertEquals([...board.restarts], [["encoder", 3], ["language", 0]]);
  const { time: _, ...line } = JSON.parse(lines[1]!);
  assertEquals(line, {
    level: "error",
    message: "worker died",
    worker: "encoder",
    reason: "no weights",
    deaths: 2,
    retry_in_ms: 500,
  });
  assertEquals(lines.map((line) => JSON.parse(line).message), [
    "worker died",
    "worker died",
    "worker recovered",
    "worker recovered",
  ]);
});
