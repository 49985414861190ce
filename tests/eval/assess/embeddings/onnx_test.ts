import { assertEquals } from "@std/assert";
import { PbfWriter } from "pbf";
import { readInitializers, readSpan } from "../../../../eval/assess/embeddings/bert/onnx.ts";
import { openFile } from "../../../../eval/assess/embeddings/bert/open_file.ts";

/** A model with one weight, its scale and its zero point, between fields that are of no interest. */
function writeModel(): Uint8Array {
  const model = new PbfWriter();
  model.writeVarintField(1, 10);
  model.writeStringField(2, "a producer");
  model.writeMessage(7, (_, graph) => {
    graph.writeStringField(2, "a graph");
    graph.writeMessage(5, (_, tensor) => {
      tensor.writeVarintField(1, 2);
      tensor.writeVarintField(1, 300);
      tensor.writeVarintField(2, 3);
      tensor.writeStringField(8, "weight");
      tensor.writeBytesField(9, Uint8Array.of(1, 2, 3));
    }, undefined);
    graph.writeMessage(5, (_, tensor) => {
      tensor.writeStringField(8, "scale");
      tensor.writePackedFloat(4, [0.5]);
    }, undefined);
    graph.writeMessage(5, (_, tensor) => {
      tensor.writePackedVarint(5, [129]);
      tensor.writeStringField(8, "zero");
    }, undefined);
  }, undefined);
  return model.finish();
}

Deno.test("the constants of an ONNX model are found, whatever else it has", async () => {
  const path = await Deno.makeTempFile();
  await Deno.writeFile(path, writeModel());
  using file = await openFile(path);
  const [weight, scale, zero] = readInitializers(file);
  assertEquals(weight!.name, "weight");
  assertEquals(weight!.dims, [2, 300]);
  assertEquals(readSpan(file, weight!.bytes), Uint8Array.of(1, 2, 3));
  assertEquals(new Float32Array(readSpan(file, scale!.bytes).buffer), Float32Array.of(0.5));
  assertEquals(zero!.integers, [129]);
  await Deno.remove(path);
});
