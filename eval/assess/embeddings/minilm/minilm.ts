import { type Address, createKernel, type KernelBuild } from "./kernel.ts";
import { HEAD, INNER, layOut, type Linear, type Norm, POSITIONS, ROWS, WIDTH } from "./layout.ts";
import { createLoader } from "./loader.ts";
import type { WeightPiece } from "./weights.ts";
import { createWordPieces, type WordPieces } from "./word_pieces.ts";

const EPSILON = 1e-12;

export interface SentenceModel {
  /** Takes in the weights; all pieces have to be there before a text is. */
  load(piece: WeightPiece): void;
  /** Texts to unit vectors of 384 numbers, in order. Of a text the first 256 word pieces are read. */
  encode(texts: string[]): Float32Array[];
  /** The loaded model as it lies in memory. */
  image(): Uint8Array;
}

/** all-MiniLM-L6-v2 with 7-bit weights and 8-bit activations. */
export function createMiniLM(build?: KernelBuild): SentenceModel {
  const at = layOut();
  const { kernel, memory } = createKernel(at.end, build);
  const load = createLoader({ kernel, memory, at });
  const words = new Int8Array(memory, at.words, at.wordScales - at.words);
  const wordScales = new Float32Array(memory, at.wordScales);
  const positions = new Float32Array(memory, at.positions, POSITIONS * WIDTH);
  const x = new Float32Array(memory, at.x, ROWS * WIDTH);
  let cut: WordPieces | undefined;

  function normalize(added: number, { gain, bias }: Norm, rows: number): void {
    kernel.normalize(at.x, added, gain, bias, rows, WIDTH, EPSILON);
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
        const [to, word, place] = [row++ * WIDTH, id * WIDTH, position * WIDTH];
        const scale = wordScales[id]!;
        for (let i = 0; i < WIDTH; i++) {
          x[to + i] = words[word + i]! * scale + positions[place + i]!;
        }
      }
    }
    const rows = Math.ceil(row / 4) * 4; // the kernel multiplies four rows at a time
    x.fill(0, row * WIDTH, rows * WIDTH);
    return rows;
  }

  function attend(texts: number[][]): void {
    let row = 0;
    for (const { length } of texts) {
      const [from, to] = [at.wide + row * 3 * WIDTH * 4, at.y + row * WIDTH * 4];
      kernel.attend(from, to, at.scratch, length, WIDTH, HEAD, 1 / Math.sqrt(HEAD));
      row += length;
    }
  }

  /** The mean of each text's rows, of length 1. */
  function average(texts: number[][]): Float32Array[] {
    let row = 0;
    return texts.map(({ length }) => {
      const sum = new Float32Array(WIDTH);
      for (const end = row + length; row < end; row++) {
        for (let i = 0; i < WIDTH; i++) sum[i]! += x[row * WIDTH + i]!;
      }
      let squares = 0;
      for (const value of sum) squares += value * value;
      const size = Math.sqrt(squares);
      return sum.map((value) => value / size);
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
      kernel.gelu(at.wide, rows * INNER);
      apply(layer.down, at.wide, at.y, rows);
      normalize(at.y, layer.afterFeedForward, rows);
    }
    return average(texts);
  }

  return {
    load(piece) {
      if (piece.kind === "vocabulary") cut = createWordPieces(piece.text.split("\n"), POSITIONS);
      else load(piece);
    },
    encode(texts) {
      if (!cut) throw new Error("the weights are not loaded");
      return groupRows(texts.map(cut)).flatMap(pass);
    },
    image: () => new Uint8Array(memory, 0, at.modelEnd),
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
