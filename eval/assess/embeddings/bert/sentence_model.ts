import { toUnit } from "../embedder.ts";
import { createKernel, type KernelBuild } from "./kernel.ts";
import {
  layOut,
  type Linear,
  MODEL_START,
  type ModelShape,
  type Norm,
  POSITIONS,
  ROWS,
} from "./layout.ts";
import { createLoader } from "./loader.ts";
import { type Address, createMemory, takeRoom } from "./memory.ts";
import { vocabularyOf, type WeightPiece } from "./weight_piece.ts";
import { createWordPieces, type WordPieces } from "./word_pieces.ts";

const EPSILON = 1e-12;
const NOT_LOADED = "the weights are not loaded";

export interface SentenceModel {
  /** Takes in the weights; all pieces have to be there before a text is. */
  load(piece: WeightPiece): void;
  /** Texts to unit vectors of `width` numbers, in order. Of a text the first 256 word pieces are read. */
  encode(texts: string[]): Float32Array[];
  /** The loaded model as it lies in memory, the same in every build. */
  image(): Uint8Array;
  /** The loaded model for `joinSentenceModel`. */
  share(): SharedModel;
}

/** A loaded model, which may be sent to another thread: both use the same memory. */
export interface SharedModel {
  memory: WebAssembly.Memory;
  /** The word pieces, one per line. */
  vocabulary: string;
}

/** A model of the BERT family with 7-bit weights and 8-bit activations. */
export function createSentenceModel(shape: ModelShape, build?: KernelBuild): SentenceModel {
  return createModel(shape, createMemory(), build);
}

/** The model that another thread has loaded, with room of its own to work in. */
export function joinSentenceModel(
  shape: ModelShape,
  { memory, vocabulary }: SharedModel,
): SentenceModel {
  const model = createModel(shape, memory);
  model.load({ kind: "vocabulary", text: vocabulary });
  return model;
}

function createModel(
  shape: ModelShape,
  whole: WebAssembly.Memory,
  build?: KernelBuild,
): SentenceModel {
  const { width, inner, head, pooling } = shape;
  const { modelEnd, end } = layOut(shape);
  const at = layOut(shape, takeRoom(whole, modelEnd, end - modelEnd));
  const kernel = createKernel(whole, build);
  const memory = whole.buffer;
  const load = createLoader({ kernel, memory, at, width });
  const words = new Int8Array(memory, at.words, at.wordScales - at.words);
  const wordScales = new Float32Array(memory, at.wordScales);
  const positions = new Float32Array(memory, at.positions, POSITIONS * width);
  const x = new Float32Array(memory, at.x, ROWS * width);
  let vocabulary: string[] | undefined;
  let cut: WordPieces | undefined;

  function normalize(added: number, { gain, bias }: Norm, rows: number): void {
    kernel.normalize(at.x, added, gain, bias, rows, width, EPSILON);
  }

  function apply(linear: Linear, from: Address, to: Address, rows: number): void {
    const { weights, factors, scales, bias, outputs, inputs } = linear;
    kernel.quantize(from, at.bytes, at.scales, at.offsets, at.apart, rows, inputs);
    kernel.multiply(
      at.bytes,
      at.scales,
      at.offsets,
      at.apart,
      weights,
      factors,
      scales,
      bias,
      to,
      rows,
      outputs,
      inputs,
    );
  }

  /** One row of `x` a word piece, text after text without padding between them. */
  function lookUp(texts: number[][]): number {
    let row = 0;
    for (const ids of texts) {
      for (const [position, id] of ids.entries()) {
        const [to, word, place] = [row++ * width, id * width, position * width];
        const scale = wordScales[id]!;
        for (let i = 0; i < width; i++) {
          x[to + i] = words[word + i]! * scale + positions[place + i]!;
        }
      }
    }
    const rows = Math.ceil(row / 4) * 4; // the kernel multiplies four rows at a time
    x.fill(0, row * width, rows * width);
    return rows;
  }

  function attend(texts: number[][]): void {
    let row = 0;
    for (const { length } of texts) {
      const [from, to] = [at.wide + row * 3 * width * 4, at.y + row * width * 4];
      kernel.attend(from, to, at.scratch, length, width, head, 1 / Math.sqrt(head));
      row += length;
    }
  }

  /** The mean of each text's rows, or the first of them, of length 1. */
  function poolRows(texts: number[][]): Float32Array[] {
    let row = 0;
    return texts.map(({ length }) => {
      const sum = new Float32Array(width);
      const end = row + (pooling === "mean" ? length : 1);
      for (let from = row; from < end; from++) {
        for (let i = 0; i < width; i++) sum[i]! += x[from * width + i]!;
      }
      row += length;
      return toUnit(sum);
    });
  }

  function pass(texts: number[][]): Float32Array[] {
    const rows = lookUp(texts);
    normalize(0, at.first, rows);
    for (const layer of at.layers) {
      apply(layer.qkv, at.x, at.wide, rows);
      attend(texts);
      apply(layer.attended, at.y, at.wide, rows);
      normalize(at.wide, layer.afterAttention, rows);
      apply(layer.up, at.x, at.wide, rows);
      kernel.gelu(at.wide, rows * inner);
      apply(layer.down, at.wide, at.y, rows);
      normalize(at.y, layer.afterFeedForward, rows);
    }
    return poolRows(texts);
  }

  return {
    load(piece) {
      const list = vocabularyOf(piece);
      if (!list) return load(piece);
      vocabulary = list;
      cut = createWordPieces(list, POSITIONS);
    },
    encode(texts) {
      if (!cut) throw new Error(NOT_LOADED);
      return groupRows(texts.map(cut)).flatMap(pass);
    },
    image: () => new Uint8Array(memory, MODEL_START, at.modelEnd - MODEL_START),
    share() {
      if (!vocabulary) throw new Error(NOT_LOADED);
      return { memory: whole, vocabulary: vocabulary.join("\n") };
    },
  };
}

/** Texts in groups that fit into one pass. */
function groupRows(texts: number[][]): number[][][] {
  const groups: number[][][] = [];
  let room = 0;
  for (const ids of texts) {
    if (ids.length > room) {
      groups.push([]);
      room = ROWS;
    }
    groups.at(-1)!.push(ids);
    room -= ids.length;
  }
  return groups;
}
