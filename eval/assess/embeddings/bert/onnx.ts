import { PbfReader } from "pbf";

/** A constant of an ONNX graph: a weight, a scale, a zero point. */
export interface Initializer {
  name: string;
  dims: number[];
  /** As the file has them, little-endian; empty if the values are in `integers`. */
  bytes: Uint8Array;
  integers: number[];
}

/** Field numbers of `onnx.proto`. */
const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR = { dims: 1, floats: 4, integers: 5, name: 8, raw: 9 };

/** The constants of an ONNX model, in the file's order; `bytes` are parts of `model`. */
export function readInitializers(model: Uint8Array): Initializer[] {
  return new PbfReader(model).readFields<Initializer[]>((field, found, pbf) => {
    if (field === MODEL_GRAPH) pbf.readMessage(readGraphField, found);
  }, []);
}

function readGraphField(field: number, found: Initializer[], pbf: PbfReader): void {
  if (field !== GRAPH_INITIALIZER) return;
  const empty = { name: "", dims: [], bytes: new Uint8Array(), integers: [] };
  found.push(pbf.readMessage<Initializer>(readTensorField, empty));
}

function readTensorField(field: number, tensor: Initializer, pbf: PbfReader): void {
  if (field === TENSOR.dims) tensor.dims.push(pbf.readVarint());
  else if (field === TENSOR.name) tensor.name = pbf.readString();
  else if (field === TENSOR.raw || field === TENSOR.floats) tensor.bytes = pbf.readBytes();
  else if (field === TENSOR.integers) tensor.integers = pbf.readPackedVarint();
}
