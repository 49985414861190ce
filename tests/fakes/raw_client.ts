/** A TCP connection that sends exactly these bytes, and reads until the other end closes it. */
export interface RawClient extends Disposable {
  say(text: string): Promise<void>;
  /** Everything that the other end sent, once it has closed the connection. */
  readonly heard: Promise<string>;
}

export async function connectRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  return {
    async say(text) {
      let rest = new TextEncoder().encode(text);
      while (rest.length > 0) { // a busy system takes a part of it
        const written = await connection.write(rest).catch(() => rest.length); // closed already
        rest = rest.subarray(written);
      }
    },
    heard: hear(connection),
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch {
        // it was closed before
      }
    },
  };
}

async function hear(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let text = "";
  for (;;) {
    const length = await connection.read(buffer).catch(() => null);
    if (length === null) return text;
    text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
}
