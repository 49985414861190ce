/**
 * The arithmetic of the sentence encoder, in AssemblyScript; `deno task kernel` builds it three
 * times: without relaxed SIMD, and with it for two kinds of processors (`products.as`). Every
 * function works on addresses of the one memory that it imports and keeps no state.
 *
 * Factors have 7 bits on one side and 8 on the other, so that the relaxed dot product cannot
 * overflow in any implementation, and all processors give the same integers. No operation on floats
 * is relaxed, so that the vectors are bit-identical in all builds. Three measures keep the results
 * close to the published model: a weight has the scale of its output times a small whole number for
 * each group of inputs; an activation of a row that is far above the others is multiplied
 * separately; attention has twice 7 bits on one side.
 */
export { multiply } from "./products";
export { quantize } from "./linear";
export { gelu, normalize } from "./layers";
export { attend } from "./attention";
