import { assertEquals, assertRejects } from "@std/assert";
import { createWorkerCall, type WorkerPort } from "../../../shared/background/worker_call.ts";

/** A worker in this thread: `answer` sees each message and may post back through the port. */
function fakeWorker(answer: (id: number, port: WorkerPort) => void) {
  const seen = { started: 0, terminated: 0 };
  const start = (): WorkerPort => {
    seen.started++;
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage: ({ id }: { id: number }) => queueMicrotask(() => answer(id, port)),
      terminate: () => void seen.terminated++,
    };
    return port;
  };
  return { start, seen };
}

const post = (port: WorkerPort, data: unknown) =>
  port.onmessage?.call(port as Worker, new MessageEvent("message", { data }));

Deno.test("a worker is started at the first call, and once", async () => {
  const { start, seen } = fakeWorker((id, port) => post(port, { id, output: id * 10 }));
  using call = createWorkerCall<string, number>(start);
  assertEquals(seen.started, 0);
  assertEquals(await Promise.all([call("a"), call("b")]), [0, 10]);
  assertEquals(seen.started, 1);
});

Deno.test("answers find their calls in whatever order they come", async () => {
  const held: number[] = [];
  const { start } = fakeWorker((id, port) => {
    held.push(id);
    if (held.length === 2) {
      for (const each of held.reverse()) post(port, { id: each, output: each });
    }
  });
  using call = createWorkerCall<string, number>(start);
  assertEquals(await Promise.all([call("a"), call("b")]), [0, 1]);
});

Deno.test("an error in one call is that call's alone", async () => {
  const { start } = fakeWorker((id, port) =>
    post(port, id === 0 ? { id, error: "no" } : { id, output: "yes" })
  );
  using call = createWorkerCall<string, string>(start);
  await assertRejects(() => call("a"), Error, "no");
  assertEquals(await call("b"), "yes");
});

Deno.test("a worker that breaks fails the calls under way and all later ones", async () => {
  const { start, seen } = fakeWorker((_, port) => {
    const event = new ErrorEvent("error", { message: "no weights", cancelable: true });
    port.onerror?.call(port as Worker, event);
    assertEquals(event.defaultPrevented, true);
  });
  using call = createWorkerCall<string, string>(start);
  await assertRejects(() => call("a"), Error, "no weights");
  await assertRejects(() => call("b"), Error, "no weights");
  assertEquals([seen.started, seen.terminated], [1, 1]);
});

Deno.test("a worker that cannot be started rejects the call", async () => {
  using call = createWorkerCall<string, string>(() => {
    throw new Error("not permitted");
  });
  await assertRejects(() => call("a"), Error, "not permitted");
});
