/** The dimensions of the model. */
export const SHAPE = {
  layers: 6,
  width: 384,
  inner: 1536,
  /** The width of an attention head. */
  head: 32,
  vocabulary: 60_000,
  /** The width of the word table. */
  narrow: 128,
};
/** Layers that compare two texts (`comparing.ts`). They use the states after `COMPARED_AFTER`. */
const COMPARING_LAYERS = 2;
export const COMPARED_AFTER = 4;
/** Their outputs for a pair: three per direction, and a similarity. */
export const OUTPUTS = 7;

/** Inputs whose weights share a scale, as in `kernel/linear.as`. */
export const GROUP = 128;
/** Outputs that the kernel computes at a time: their weights lie side by side. */
export const PANEL = 16;
/** Added to a weight of 7 bits, as in `kernel/linear.as`. */
export const WEIGHT_OFFSET = 64;
/** The most word pieces of a text that are read: the model was trained with as many. */
export const POSITIONS = 96;
/** Word pieces per pass: at least one whole text. More would not fit into the processor's cache. */
export const ROWS = 256;

/**
 * A matrix of quantised weights, as [outputs / 16][inputs / 4][16 outputs][4 inputs], with a scale
 * and a bias per output.
 */
export interface Linear {
  outputs: number;
  inputs: number;
  weights: Address;
  /** One whole number per output and group of inputs, as [outputs / 16][groups][16]. */
  factors: Address;
  scales: Address;
  bias: Address;
}

export interface Norm {
  gain: Address;
  bias: Address;
}

/** Lower addresses hold the constants of the kernel, which differ between builds. */
export const MODEL_START = 1024;

/**
 * The addresses in the kernel's memory: the model, then a workspace. `room` is the address of the
 * workspace, because threads that share a model each have their own.
 */
export function layOut(room?: Address) {
  const { layers, width, inner, head, vocabulary, narrow } = SHAPE;
  const heads = width / head;
  let end = MODEL_START;
  const take = (bytes: number): Address => {
    const start = end;
    end = Math.ceil((end + bytes) / 64) * 64;
    return start;
  };
  const linear = (outputs: number, inputs: number): Linear => ({
    outputs,
    inputs,
    weights: take(outputs * inputs),
    factors: take(outputs * inputs / GROUP * 4),
    scales: take(outputs * 4),
    bias: take(outputs * 4),
  });
  const norm = (): Norm => ({ gain: take(width * 4), bias: take(width * 4) });
  const layer = () => ({
    qkv: linear(3 * width, width),
    attended: linear(width, width),
    afterAttention: norm(),
    up: linear(inner, width),
    down: linear(width, inner),
    afterFeedForward: norm(),
  });
  const model = {
    words: take(vocabulary * narrow),
    wordScales: take(vocabulary * 4),
    wide: linear(width, narrow),
    positions: take(POSITIONS * width * 4),
    first: norm(),
    layers: Array.from({ length: layers }, layer),
    comparing: {
      segments: take(2 * width * 4),
      layers: Array.from({ length: COMPARING_LAYERS }, layer),
      out: take(OUTPUTS * 4 * width * 4),
      outBias: take(OUTPUTS * 4),
      cosine: take(2 * 4),
    },
  };
  const modelEnd = end;
  end = room ?? end;
  const work = {
    x: take(ROWS * width * 4),
    // Attention reads and writes up to three rows past the end of a text.
    y: take((ROWS + 3) * width * 4),
    wideRows: take((ROWS + 3) * inner * 4),
    bytes: take(ROWS * inner),
    scales: take(ROWS * 4),
    offsets: take(ROWS * inner / GROUP * 4),
    apart: take(ROWS * 8),
    scratch: take((4 * width + 16 * heads + 24) * ROWS + 48 * heads),
  };
  return { ...model, modelEnd, ...work, end };
}

export type Layout = ReturnType<typeof layOut>;
export type Layer = Layout["layers"][number];

/** An address in the kernel's memory, in bytes. */
export type Address = number;

/** 320 MB of addresses for a model and 64 workspaces. Pages take memory when they are written. */
export const MEMORY_PAGES = 5120;
/** The address of the number of workspaces in use, below the constants of the kernel. */
const TAKEN = 0;

/** Memory that the kernels of several threads share. */
export function createMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum: MEMORY_PAGES, shared: true });
}

/**
 * Reserves one of the workspaces of `bytes` behind `start`. It stays reserved when its thread ends.
 * Throws if there is none left.
 */
export function takeRoom(memory: WebAssembly.Memory, start: Address, bytes: number): Address {
  const room = start + bytes * Atomics.add(new Int32Array(memory.buffer, TAKEN, 1), 0, 1);
  if (room + bytes > memory.buffer.byteLength) throw new RangeError("no workspace is left");
  return room;
}
