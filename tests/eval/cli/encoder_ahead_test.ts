import { assertEquals, assertStrictEquals } from "@std/assert";
import { createEncoderAhead } from "../../../eval/cli/process/encoder_ahead.ts";
import type { WorkerPort } from "../../../shared/service/worker_call.ts";

function encoderAhead() {
  const started: { worker: WorkerPort; sent: unknown[]; isEnded: boolean }[] = [];
  const ahead = createEncoderAhead(() => {
    const worker: WorkerPort = {
      postMessage: (message: unknown) => void one.sent.push(message),
      terminate: () => void (one.isEnded = true),
      onmessage: null,
      onerror: null,
      onmessageerror: null,
    };
    const one = { worker, sent: [] as unknown[], isEnded: false };
    started.push(one);
    return worker;
  });
  return { ahead, started };
}

Deno.test("the encoder that was started ahead is the run's first one, and only that", () => {
  const { ahead, started } = encoderAhead();
  ahead.begin();
  assertEquals(started[0]!.sent, [{ id: 0, input: { texts: [] }, limitMs: 0 }]); // loads its model
  assertStrictEquals(ahead.start(), started[0]!.worker);
  ahead.start();
  ahead.end(); // its user ends it
  assertEquals(started.map(({ isEnded }) => isEnded), [false, false]);
});

Deno.test("an encoder that the run does not need is ended", () => {
  const { ahead, started } = encoderAhead();
  ahead.begin();
  ahead.end();
  assertEquals(started.map(({ isEnded }) => isEnded), [true]);
  ahead.start();
  assertEquals(started.length, 2);
});

Deno.test("after an encoder that died before it was asked for comes another", () => {
  const { ahead, started } = encoderAhead();
  ahead.begin();
  const event = new ErrorEvent("error", { cancelable: true });
  (started[0]!.worker.onerror as (event: ErrorEvent) => void)(event);
  assertEquals(event.defaultPrevented, true);
  ahead.start();
  assertEquals(started.length, 2);
});
