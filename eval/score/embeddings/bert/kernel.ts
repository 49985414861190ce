import pairs from "./kernel/pairs.wasm" with { type: "bytes" };
import plain from "./kernel/plain.wasm" with { type: "bytes" };
import probe from "./kernel/probe.wasm" with { type: "bytes" };
import relaxed from "./kernel/relaxed.wasm" with { type: "bytes" };
import type { Address } from "./layout.ts";

/** The functions of the `.as` files in `kernel/`, where each is described. */
export interface Kernel {
  quantize(
    from: Address,
    to: Address,
    scales: Address,
    offsets: Address,
    apart: Address,
    rows: number,
    width: number,
  ): void;
  multiply(
    activations: Address,
    scales: Address,
    offsets: Address,
    apart: Address,
    weights: Address,
    factors: Address,
    weightScales: Address,
    bias: Address,
    to: Address,
    rows: number,
    outputs: number,
    inputs: number,
  ): void;
  gelu(at: Address, count: number): void;
  normalize(
    at: Address,
    added: Address,
    gain: Address,
    bias: Address,
    rows: number,
    width: number,
    epsilon: number,
  ): void;
  attend(
    from: Address,
    rows: number,
    qkv: Address,
    length: number,
    to: Address,
    scratch: Address,
    width: number,
    depth: number,
    scale: number,
  ): void;
}

/**
 * `relaxed` and `pairs` use relaxed SIMD and are two to three times faster than `plain`. Without an
 * instruction for dot products of bytes, as on most x86-64, `pairs` takes two thirds of the time of
 * `relaxed`. All builds have bit-identical results.
 */
export type KernelBuild = "relaxed" | "pairs" | "plain";

const BUILDS = { relaxed, pairs, plain };

/** The fastest build for this runtime and processor. */
export function bestBuild(): KernelBuild {
  if (!WebAssembly.validate(probe)) return "plain";
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(probe));
  return (exports as unknown as { addsInPairs(): number }).addsInPairs() ? "pairs" : "relaxed";
}

export function createKernel(
  memory: WebAssembly.Memory,
  build: KernelBuild = bestBuild(),
): Kernel {
  const module = new WebAssembly.Module(BUILDS[build]);
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports as unknown as Kernel;
}
