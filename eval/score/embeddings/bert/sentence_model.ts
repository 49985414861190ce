import { toUnit } from "../../vectors.ts";
import { type Comparison, createComparing, type EncodedPair } from "./comparing.ts";
import { createKernel, type KernelBuild } from "./kernel.ts";
import { createLayers, groupRows, padRows, type Span } from "./layers.ts";
import { COMPARED_AFTER, createMemory, layOut, POSITIONS, SHAPE, takeRoom } from "./layout.ts";
import { readVocabulary, readWeights } from "./weights.ts";
import { createWordPieces, UNKNOWN } from "./word_pieces.ts";

export interface SentenceModel {
  /** In order. Only the first 96 word pieces of a text are read. */
  encode(texts: string[]): EncodedText[];
  /** In order. */
  compare(pairs: EncodedPair[]): Comparison[];
  /** The loaded model for `joinSentenceModel`. */
  share(): SharedModel;
}

export interface EncodedText {
  /** `width` numbers, of length 1. */
  vector: Float32Array;
  /** For `compare`: `width` numbers per word piece. */
  states: Float16Array;
  /** The share of its words that the model does not know. */
  unknown: number;
}

/** A loaded model that may be sent to another thread: both use the same memory. */
export interface SharedModel {
  memory: WebAssembly.Memory;
  /** The word pieces, one per line. */
  vocabulary: string;
}

/** The model of the program, with 7-bit weights and 8-bit activations. */
export async function loadSentenceModel(build?: KernelBuild): Promise<SentenceModel> {
  const memory = createMemory();
  const [vocabulary] = await Promise.all([readVocabulary(), readWeights(memory.buffer)]);
  return joinSentenceModel({ memory, vocabulary }, build);
}

/** A model that is loaded, with a workspace of its own. */
export function joinSentenceModel(shared: SharedModel, build?: KernelBuild): SentenceModel {
  const { memory: { buffer }, vocabulary } = shared;
  const { width, narrow } = SHAPE;
  const { modelEnd, end } = layOut();
  const at = layOut(takeRoom(shared.memory, modelEnd, end - modelEnd));
  const cut = createWordPieces(vocabulary.split("\n"));
  const words = new Int8Array(buffer, at.words, SHAPE.vocabulary * narrow);
  const wordScales = new Float32Array(buffer, at.wordScales, SHAPE.vocabulary);
  const positions = new Float32Array(buffer, at.positions, POSITIONS * width);
  /** Rows of the word table, before they are widened. */
  const narrowRows = new Float32Array(buffer, at.y);
  const layers = createLayers({ kernel: createKernel(shared.memory, build), memory: buffer, at });
  const { x } = layers;

  /** Writes one row of `x` per word piece, without padding between texts. */
  function lookUp(texts: number[][]): number {
    const ids = texts.flat();
    const rows = padRows(ids.length);
    for (const [row, id] of ids.entries()) {
      const scale = wordScales[id]!;
      for (let i = 0; i < narrow; i++) {
        narrowRows[row * narrow + i] = words[id * narrow + i]! * scale;
      }
    }
    narrowRows.fill(0, ids.length * narrow, rows * narrow);
    layers.apply(at.wide, at.y, at.x, rows);
    let to = 0;
    for (const { length } of texts) {
      for (let i = 0; i < length * width; i++) x[to++]! += positions[i]!;
    }
    return rows;
  }

  function pass(texts: number[][]): EncodedText[] {
    const rows = lookUp(texts);
    const spans = spansOf(texts);
    let states: Float16Array[] = [];
    layers.normalize(0, at.first, rows);
    for (const [index, layer] of at.layers.entries()) {
      layers.run(layer, rows, () => spans.forEach((span) => layers.attend(span, span)));
      if (index + 1 === COMPARED_AFTER) states = spans.map(statesOf);
    }
    return spans.map((span, index) => ({
      vector: toUnit(layers.sum(span)),
      states: states[index]!,
      unknown: unknownShare(texts[index]!),
    }));
  }

  function statesOf({ start, length }: Span): Float16Array {
    return new Float16Array(x.subarray(start * width, (start + length) * width));
  }

  return {
    encode: (texts) => groupRows(texts.map(cut), ({ length }) => length).flatMap(pass),
    compare: createComparing({ layers, memory: buffer, at: at.comparing }),
    share: () => shared,
  };
}

function unknownShare(ids: number[]): number {
  const unknown = ids.filter((id) => id === UNKNOWN).length;
  return unknown / Math.max(1, ids.length - 2);
}

/** The rows of each text, without padding between them. */
function spansOf(texts: number[][]): Span[] {
  let start = 0;
  return texts.map(({ length }) => {
    start += length;
    return { start: start - length, length };
  });
}
