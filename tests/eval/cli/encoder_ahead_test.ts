import { assertEquals, assertStrictEquals } from "@std/assert";
import { BGE_ZH } from "../../../eval/assess/embeddings/bert/bge_zh.ts";
import { MINILM } from "../../../eval/assess/embeddings/bert/minilm.ts";
import { createEncoderAhead } from "../../../eval/cli/encoder_ahead.ts";
import type { WorkerPort } from "../../../shared/background/worker_call.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";

function encoderAhead() {
  const started: { name: string; worker: WorkerPort }[] = [];
  const ahead = createEncoderAhead(({ name }) => {
    const worker: WorkerPort = {
      postMessage() {},
      terminate() {},
      onmessage: null,
      onerror: null,
      onmessageerror: null,
    };
    started.push({ name, worker });
    return worker;
  });
  return { ahead, started };
}

const batchOf = (reference_reply: string) => [
  scenario("s", [interaction("i", { reference_reply })]),
];

Deno.test("the encoder that was started ahead is the run's first one, and only that", () => {
  const { ahead, started } = encoderAhead();
  ahead.begin(batchOf("The parcel is here."));
  assertEquals(started.map(({ name }) => name), ["minilm"]);
  ahead.start(BGE_ZH);
  assertStrictEquals(ahead.start(MINILM), started[0]!.worker);
  ahead.start(MINILM);
  assertEquals(started.map(({ name }) => name), ["minilm", "bge-zh", "minilm"]);
});

Deno.test("without a reference for the encoder none is started ahead", () => {
  for (const reference of ["", "42", "您的订单已经发货。"]) {
    const { ahead, started } = encoderAhead();
    ahead.begin(batchOf(reference));
    assertEquals(started, [], reference);
  }
});
