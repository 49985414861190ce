import { toUnit } from "../../vectors.ts";
import {
  type Comparison,
  createComparing,
  type EncodedPair,
  LONGEST_COMPARED,
} from "./comparing.ts";
import { createKernel, type KernelBuild } from "./kernel.ts";
import { createLayers, groupRows, padRows, type Span } from "./layers.ts";
import {
  COMPARED_AFTER,
  createMemory,
  layOut,
  MODEL_START,
  type ModelShape,
  POSITIONS,
  takeRoom,
} from "./layout.ts";
import { createLoader } from "./loader.ts";
import { vocabularyOf, type WeightPiece } from "./weight_piece.ts";
import { createWordPieces, type WordPieces } from "./word_pieces.ts";

const NOT_LOADED = "the weights are not loaded";

export interface SentenceModel {
  /** Loads a part of the weights; all parts must be loaded before the first text. */
  load(piece: WeightPiece): void;
  /** In order. Only the first 256 word pieces of a text are read. */
  encode(texts: string[], keepsStates?: boolean): EncodedText[];
  /** In order. Throws if the model has no layers for it. */
  compare(pairs: EncodedPair[]): Comparison[];
  /** The loaded model as it is in memory, the same in every build. */
  image(): Uint8Array;
  /** The loaded model for `joinSentenceModel`. */
  share(): SharedModel;
}

export interface EncodedText {
  /** `width` numbers, of length 1. */
  vector: Float32Array;
  /** For `compare`, of the first 96 word pieces; only with `keepsStates`. */
  states?: Float16Array | undefined;
}

/** A loaded model that may be sent to another thread: both use the same memory. */
export interface SharedModel {
  memory: WebAssembly.Memory;
  /** The word pieces, one per line. */
  vocabulary: string;
}

/** A model of the BERT family with 7-bit weights and 8-bit activations. */
export function createSentenceModel(shape: ModelShape, build?: KernelBuild): SentenceModel {
  return createModel(shape, createMemory(), build);
}

/** The model that another thread has loaded, with its own workspace. */
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
  const { width, pooling } = shape;
  const { modelEnd, end } = layOut(shape);
  const at = layOut(shape, takeRoom(whole, modelEnd, end - modelEnd));
  const kernel = createKernel(whole, build);
  const memory = whole.buffer;
  const load = createLoader({ kernel, memory, at, width });
  const words = new Int8Array(memory, at.words, at.wordScales - at.words);
  const wordScales = new Float32Array(memory, at.wordScales);
  const positions = new Float32Array(memory, at.positions, POSITIONS * width);
  const layers = createLayers({ kernel, memory, at, shape });
  const { x } = layers;
  const comparing = at.comparing && createComparing({ layers, memory, at: at.comparing, width });
  let vocabulary: string[] | undefined;
  let cut: WordPieces | undefined;

  /** Writes one row of `x` per word piece, without padding between texts. */
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
    const rows = padRows(row);
    x.fill(0, row * width, rows * width);
    return rows;
  }

  function pass(texts: number[][], keepsStates: boolean): EncodedText[] {
    const rows = lookUp(texts);
    const spans = spansOf(texts);
    let states: Float16Array[] = [];
    layers.normalize(0, at.first, rows);
    for (const [index, layer] of at.layers.entries()) {
      layers.run(layer, rows, () => spans.forEach((span) => layers.attend(span, span)));
      if (keepsStates && index + 1 === COMPARED_AFTER) states = spans.map(statesOf);
    }
    return spans.map((span, index) => ({ vector: poolRows(span), states: states[index] }));
  }

  function statesOf({ start, length }: Span): Float16Array {
    const end = start + Math.min(length, LONGEST_COMPARED);
    return new Float16Array(x.subarray(start * width, end * width));
  }

  /** The mean of a text's rows, or the first of them, of length 1. */
  function poolRows({ start, length }: Span): Float32Array {
    return toUnit(layers.sum({ start, length: pooling === "mean" ? length : 1 }));
  }

  return {
    load(piece) {
      const list = vocabularyOf(piece);
      if (!list) return load(piece);
      vocabulary = list;
      cut = createWordPieces(list, POSITIONS);
    },
    encode(texts, keepsStates = false) {
      if (!cut) throw new Error(NOT_LOADED);
      return groupRows(texts.map(cut), ({ length }) => length).flatMap((group) =>
        pass(group, keepsStates)
      );
    },
    compare(pairs) {
      if (!comparing) throw new Error("this model cannot compare texts");
      return comparing(pairs);
    },
    image: () => new Uint8Array(memory, MODEL_START, at.modelEnd - MODEL_START),
    share() {
      if (!vocabulary) throw new Error(NOT_LOADED);
      return { memory: whole, vocabulary: vocabulary.join("\n") };
    },
  };
}

/** The rows of each text, without padding between them. */
function spansOf(texts: number[][]): Span[] {
  let start = 0;
  return texts.map(({ length }) => {
    start += length;
    return { start: start - length, length };
  });
}
