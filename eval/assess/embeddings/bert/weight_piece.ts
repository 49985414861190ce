import type { ModelShape } from "./layout.ts";

/** A part of a published model, small enough to be converted without much memory. */
export type WeightPiece =
  /** The word pieces, one per line. */
  | { kind: "vocabulary"; text: string }
  /** The same in the format of published models. */
  | { kind: "tokenizer"; json: string }
  /** Rows of a tensor, as floats; `row` is the number of rows before them. */
  | { kind: "tensor"; name: string; row: number; values: Float<ArrayBuffer> }
  | QuantizedPiece
  /** A part of the model as it is in the kernel's memory; `at` counts from the model's start. */
  | { kind: "image"; at: number; bytes: Uint8Array<ArrayBuffer> };

/** Rows of 8-bit values; each is `scale` × (value − `zero`). */
export interface QuantizedPiece {
  kind: "quantized";
  name: string;
  row: number;
  values: Uint8Array<ArrayBuffer> | Int8Array<ArrayBuffer>;
  zero: number;
  /**
   * One for all, or one per column; then the rows are inputs and the columns outputs of a matrix.
   */
  scales: Float32Array<ArrayBuffer>;
}

type Float<B extends ArrayBuffer> = Float16Array<B> | Float32Array<B>;

/** A built-in sentence encoder, by its name in answers. */
export type EncoderModel = "minilm" | "bge-zh";

export interface ModelSource {
  name: EncoderModel;
  shape: ModelShape;
  read(): AsyncIterable<WeightPiece>;
}

/** The memory of a piece, which may be released after it was loaded. */
export function buffersOf(piece: WeightPiece): ArrayBuffer[] {
  if (piece.kind === "tensor" || piece.kind === "quantized") return [piece.values.buffer];
  return piece.kind === "image" ? [piece.bytes.buffer] : [];
}

/** The word pieces in the order of their ids, if the piece has them. */
export function vocabularyOf(piece: WeightPiece): string[] | undefined {
  if (piece.kind === "vocabulary") return piece.text.split("\n");
  if (piece.kind !== "tokenizer") return;
  const { model: { vocab } } = JSON.parse(piece.json);
  const words: string[] = [];
  for (const word in vocab) words[vocab[word]] = word; // three times as fast as `Object.entries`
  return words;
}
