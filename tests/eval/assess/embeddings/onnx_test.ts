import { assertEquals } from "@std/assert";
import { PbfWriter } from "pbf";
import { readInitializers } from "../../../../eval/assess/embeddings/bert/onnx.ts";

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

Deno.test("the constants of an ONNX model are read, whatever else it has", () => {
  const [weight, scale, zero] = readInitializers(writeModel());
  assertEquals(weight, {
    name: "weight",
    dims: [2, 300],
    bytes: Uint8Array.of(1, 2, 3),
    integers: [],
  });
  assertEquals(new Float32Array(scale!.bytes.slice().buffer), Float32Array.of(0.5));
  assertEquals(zero!.integers, [129]);
});
