/** A file of weights that is read in pieces. */
export interface OpenFile extends Disposable {
  size: number;
  seek(position: number): void;
  /** Throws if the file has fewer bytes left. */
  read(bytes: number): Uint8Array<ArrayBuffer>;
}

export async function openFile(path: string | URL): Promise<OpenFile> {
  const file = await Deno.open(path);
  return {
    size: (await Deno.stat(path)).size, // an open file of a compiled binary lacks it
    seek: (position) => file.seekSync(position, Deno.SeekMode.Start),
    read(bytes) {
      const buffer = new Uint8Array(bytes);
      for (let got = 0; got < bytes;) {
        const more = file.readSync(buffer.subarray(got));
        if (!more) throw new Error(`cannot read the sentence encoder: ${path} ends early`);
        got += more;
      }
      return buffer;
    },
    [Symbol.dispose]: () => file.close(),
  };
}

/** A tensor in the header of a safetensors file. */
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
