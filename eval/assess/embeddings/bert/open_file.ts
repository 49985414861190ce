/** A file of weights that is read in pieces. */
export interface OpenFile extends Disposable {
  size: number;
  seek(position: number): void;
  /** Rejects if the file has fewer bytes left. */
  read(bytes: number): Promise<ArrayBuffer>;
  /**
   * For a few bytes, which are sooner read than waited for; and for up to 1 MB while modules are
   * being loaded, which leaves no time to take what was read meanwhile.
   */
  readSync(bytes: number): Uint8Array<ArrayBuffer>;
}

export async function openFile(path: string | URL): Promise<OpenFile> {
  const file = await Deno.open(path);
  const endsEarly = () => new Error(`cannot read the sentence encoder: ${path} ends early`);
  return {
    size: (await Deno.stat(path)).size, // a file in a binary cannot tell by itself
    seek: (position) => file.seekSync(position, Deno.SeekMode.Start),
    async read(bytes) {
      const buffer = new Uint8Array(bytes);
      for (let got = 0; got < bytes;) {
        const more = await file.read(buffer.subarray(got));
        if (!more) throw endsEarly();
        got += more;
      }
      return buffer.buffer;
    },
    readSync(bytes) {
      const buffer = new Uint8Array(bytes);
      for (let got = 0; got < bytes;) {
        const more = file.readSync(buffer.subarray(got));
        if (!more) throw endsEarly();
        got += more;
      }
      return buffer;
    },
    [Symbol.dispose]: () => file.close(),
  };
}
