import plain from "./kernel/plain.wasm" with { type: "bytes" };
import relaxed from "./kernel/relaxed.wasm" with { type: "bytes" };

/** An address in the kernel's memory, in bytes. */
export type Address = number;

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
  widen(from: Address, to: Address, count: number): void;
  packRows(from: Address, to: Address, scales: Address, rows: number, width: number): void;
  packWeights(
    from: Address,
    to: Address,
    factors: Address,
    scales: Address,
    first: number,
    count: number,
    inputs: number,
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
    qkv: Address,
    to: Address,
    scratch: Address,
    length: number,
    width: number,
    depth: number,
    scale: number,
  ): void;
}

/** Relaxed SIMD is two to three times faster; the results are the same to the last bit. */
export type KernelBuild = "relaxed" | "plain";

/** The faster build that this runtime can run. */
export function bestBuild(): KernelBuild {
  return WebAssembly.validate(relaxed) ? "relaxed" : "plain";
}

/** A kernel that works on a memory of `bytes`. */
export function createKernel(
  bytes: number,
  build: KernelBuild = bestBuild(),
): { kernel: Kernel; memory: ArrayBuffer } {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65_536) });
  const module = new WebAssembly.Module(build === "relaxed" ? relaxed : plain);
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { kernel: exports as unknown as Kernel, memory: memory.buffer as ArrayBuffer };
}
