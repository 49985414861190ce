import { assertEquals, assertRejects } from "@std/assert";
import {
  ENCODER_OPTIONS,
  type EncoderInput,
} from "../../../../eval/assess/embeddings/encoder_start.ts";
import { createWorkerCall } from "../../../../shared/background/worker_call.ts";
import { COMPUTE_ONLY } from "../../../../shared/background/worker_options.ts";

Deno.test("an encoder that has a text may read no file, nor do anything else but compute", async () => {
  const url = new URL("../../../fakes/encoder_that_tells.ts", import.meta.url);
  const worker = new Worker(url, { ...ENCODER_OPTIONS, name: "minilm" });
  const told = Promise.withResolvers<string[]>();
  worker.onmessage = ({ data }) => "granted" in data && told.resolve(data.granted);
  worker.postMessage({ id: 0, input: { texts: ["a"] }, limitMs: 60_000 });
  assertEquals(await told.promise, []);
  worker.terminate();
});

Deno.test("an encoder that cannot read its weights says why at every call", async () => {
  const url = new URL("../../../../eval/assess/embeddings/encoder_worker.ts", import.meta.url);
  using call = createWorkerCall<EncoderInput, Float32Array[]>(() =>
    new Worker(url, { ...COMPUTE_ONLY, name: "minilm" })
  );
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => call({ texts: ["a"] }), Error, "read access");
  }
});
