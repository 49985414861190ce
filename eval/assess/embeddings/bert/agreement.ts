import { openFile, readTensorTable, type Tensor } from "./open_file.ts";
import type { WeightPiece } from "./weight_piece.ts";

/** Weights that share a factor. */
const GROUP = 128;
const WEIGHTS = new URL("./agreement.bin", import.meta.url);

/**
 * The layers that compare two texts, as floats. In the file a matrix has 7 bits a weight; a weight is
 * its value times the factor of its group of inputs times the scale of its output.
 */
export async function* readAgreement(): AsyncGenerator<WeightPiece> {
  using file = await openFile(WEIGHTS);
  const { start, tensors } = readTensorTable(file);
  const bytesOf = (tensor: Tensor) => {
    const [from, end] = tensor.data_offsets;
    file.seek(start + from);
    return file.read(end - from).buffer;
  };
  for (const [name, tensor] of tensors) {
    if (name.endsWith(".factors") || name.endsWith(".scales")) continue;
    const bytes = bytesOf(tensor);
    yield { kind: "tensor", name: `agreement.${name}`, row: 0, values: read(name, tensor, bytes) };
  }

  function read(name: string, { dtype }: Tensor, bytes: ArrayBuffer): Float32Array<ArrayBuffer> {
    if (dtype === "F32") return new Float32Array(bytes);
    if (dtype === "F16") return Float32Array.from(new Float16Array(bytes));
    const factors = new Uint8Array(bytesOf(tensors.get(`${name}.factors`)!));
    const scales = new Float32Array(bytesOf(tensors.get(`${name}.scales`)!));
    const inputs = bytes.byteLength / scales.length; // of an output
    const own = new Int8Array(bytes);
    const values = new Float32Array(own.length);
    // A plain loop: `Float32Array.from` with a function takes a second for 3.5 million weights.
    for (let group = 0; group < factors.length; group++) {
      const start = group * GROUP;
      const unit = factors[group]! * scales[Math.floor(start / inputs)]!;
      for (let at = start; at < start + GROUP; at++) values[at] = own[at]! * unit;
    }
    return values;
  }
}
