import { PbfReader } from "pbf";
import type { OpenFile } from "./open_file.ts";

/** A constant of an ONNX graph: a weight, a scale, a zero point. */
export interface Initializer {
  name: string;
  dims: number[];
  /** Where the file has the values, little-endian; empty if they are in `integers`. */
  bytes: Span;
  integers: number[];
}

/** A part of a file, in bytes from its start. */
export interface Span {
  start: number;
  end: number;
}

/** Field numbers of `onnx.proto`. */
const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR = { dims: 1, floats: 4, integers: 5, name: 8, raw: 9 };

/** The constants of an ONNX model, in the file's order. Their values, 24 MB, stay in the file. */
export function readInitializers(file: OpenFile): Initializer[] {
  return fieldsOf(file, { start: 0, end: file.size })
    .filter(({ field }) => field === MODEL_GRAPH)
    .flatMap((graph) => fieldsOf(file, graph))
    .filter(({ field }) => field === GRAPH_INITIALIZER)
    .map((tensor) => readTensor(file, tensor));
}

function readTensor(file: OpenFile, span: Span): Initializer {
  const tensor: Initializer = { name: "", dims: [], bytes: { start: 0, end: 0 }, integers: [] };
  for (const { field, value, start, end } of fieldsOf(file, span)) {
    if (field === TENSOR.dims) tensor.dims.push(value);
    else if (field === TENSOR.name) tensor.name = decoder.decode(readSpan(file, { start, end }));
    else if (field === TENSOR.raw || field === TENSOR.floats) tensor.bytes = { start, end };
    else if (field === TENSOR.integers) tensor.integers = varintsOf(readSpan(file, { start, end }));
  }
  return tensor;
}

const decoder = new TextDecoder();

export function readSpan(file: OpenFile, { start, end }: Span): Uint8Array<ArrayBuffer> {
  file.seek(start);
  return file.read(end - start);
}

function varintsOf(bytes: Uint8Array): number[] {
  const pbf = new PbfReader(bytes);
  const found: number[] = [];
  while (pbf.pos < bytes.length) found.push(pbf.readVarint());
  return found;
}

/** A field of a message: a number, or the place of its bytes. */
interface Field extends Span {
  field: number;
  value: number;
}

/** A tag and a number, or a tag and a length: ONNX has no other fields at these places. */
const HEAD_BYTES = 15;
const VARINT = 0;

function fieldsOf(file: OpenFile, { start, end }: Span): Field[] {
  const fields: Field[] = [];
  for (let at = start; at < end;) {
    const head = readSpan(file, { start: at, end: Math.min(at + HEAD_BYTES, end) });
    const pbf = new PbfReader(head);
    const [tag, value] = [pbf.readVarint(), pbf.readVarint()];
    const from = at + pbf.pos;
    at = (tag & 7) === VARINT ? from : from + value;
    fields.push({ field: tag >> 3, value, start: from, end: at });
  }
  return fields;
}
