import { assertEquals, assertRejects } from "@std/assert";
import {
  ENCODER_OPTIONS,
  type EncoderInput,
  type EncoderOutput,
} from "../../../../eval/assess/embeddings/encoder_start.ts";
import { COMPUTE_ONLY, createWorkerCall } from "../../../../shared/background/worker_call.ts";

/** Has a new worker answer, and tell what it may still do. */
async function ask(input: EncoderInput): Promise<{ output: EncoderOutput; granted: string[] }> {
  const url = new URL("../../../fakes/encoder_that_tells.ts", import.meta.url);
  const worker = new Worker(url, { ...ENCODER_OPTIONS, name: "minilm" });
  const answered = Promise.withResolvers<EncoderOutput>();
  const told = Promise.withResolvers<string[]>();
  worker.onmessage = ({ data }) =>
    "granted" in data ? told.resolve(data.granted) : answered.resolve(data.output);
  worker.postMessage({ id: 1, input, limitMs: 60_000 });
  const answer = { output: await answered.promise, granted: await told.promise };
  worker.terminate();
  return answer;
}

Deno.test("an encoder that has a text may read no file, nor do anything else but compute", async () => {
  const first = await ask({ texts: ["a"], lends: true });
  assertEquals(first.granted, []);
  const joined = await ask({ texts: ["a"], joins: first.output.lent! }); // the first has ended
  assertEquals(joined.granted, []);
  assertEquals(joined.output.texts, first.output.texts);
});

Deno.test("an encoder that cannot read its weights says why at every call", async () => {
  const url = new URL("../../../../eval/assess/embeddings/encoder_worker.ts", import.meta.url);
  using call = createWorkerCall<EncoderInput, EncoderOutput>(() =>
    new Worker(url, { ...COMPUTE_ONLY, name: "minilm" })
  );
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => call({ texts: ["a"] }), Error, "read access");
  }
});
