import type { OpenFile } from "./open_file.ts";

/** As safetensors describe one. */
export interface Tensor {
  dtype?: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The tensors of a file by their names; offsets count from `start`. */
export function readTensorTable(file: OpenFile): { start: number; tensors: Map<string, Tensor> } {
  const headBytes = Number(new DataView(file.read(8).buffer).getBigUint64(0, true));
  const head: Record<string, Tensor> = JSON.parse(new TextDecoder().decode(file.read(headBytes)));
  const tensors = Object.entries(head).filter(([name]) => name !== "__metadata__");
  return { start: 8 + headBytes, tensors: new Map(tensors) };
}
