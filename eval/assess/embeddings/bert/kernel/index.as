/**
 * The arithmetic of the sentence encoder, in AssemblyScript; `deno task kernel` builds it three
 * times: without relaxed SIMD, and with it for two kinds of processors (`products.as`). Every
 * function works on addresses of the one memory that it imports and keeps no state.
 *
 * What is multiplied has 7 bits on one side and 8 on the other: then the relaxed dot product cannot
 * overflow in any way that an implementation may choose, and all processors give the same integers.
 * No operation on floats is relaxed, so that the vectors are the same to the last bit, in all
 * builds. Three things keep so few bits close to the published model: a weight has the scale of its
 * output times a small whole number for each group of inputs; where one activation of a row is far
 * above the others it is multiplied apart from them; attention has twice 7 bits on one side.
 */
export { packRows, packWeights, widen } from "./weights";
export { multiply } from "./products";
export { quantize } from "./linear";
export { gelu, normalize } from "./layers";
export { attend } from "./attention";
