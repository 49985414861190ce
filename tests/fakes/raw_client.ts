/** A TCP connection that sends exactly these bytes, and reads until the other end closes it. */
export interface RawClient extends Disposable {
  say(text: string): Promise<void>;
  /** Everything that the other end has sent so far. */
  readonly text: string;
  /** Everything that the other end sent, once it has closed the connection. */
  readonly heard: Promise<string>;
}

export async function connectRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  let text = "";
  async function hear(): Promise<string> {
    for await (const piece of connection.readable.pipeThrough(new TextDecoderStream())) {
      text += piece;
    }
    return text;
  }
  return {
    get text() {
      return text;
    },
    async say(text) {
      let rest = new TextEncoder().encode(text);
      while (rest.length > 0) { // a busy system takes a part of it
        const written = await connection.write(rest).catch(() => rest.length); // closed already
        rest = rest.subarray(written);
      }
    },
    heard: hear().catch(() => text), // it was reset
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch {
        // it was closed before
      }
    },
  };
}
