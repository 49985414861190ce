import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { product, products } from "../../../../eval/assess/embeddings/embedder.ts";

Deno.test("inner products taken side by side are the same to the last bit", () => {
  const vector = fc.float32Array({
    minLength: 7,
    maxLength: 7,
    noNaN: true,
    noDefaultInfinity: true,
  });
  fc.assert(fc.property(vector, fc.array(vector, { maxLength: 10 }), (one, others) => {
    assertEquals(products(one, others), others.map((other) => product(one, other)));
  }));
});
