// deno-lint-ignore-file no-console -- its only way to tell where it listens
/**
 * A model server, run as a process of its own, whose answers are made to cost their reader much. The
 * path says which: `/chunks`, `/parts`, `/choices`, `/models`, `/hints`.
 */
const MANY = 1_000_000;
const CHUNK_BYTES = 60;
const CHUNKED_BYTES = 3_000_000;

const encode = (text: string) => new TextEncoder().encode(text);
const completion = (content: string) =>
  `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":${content}}}]}`;
const head = (length: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n${length}\r\n\r\n`;
const whole = (body: string) => head(`Content-Length: ${encode(body).length}`) + body;

function chunked(body: string): string {
  let text = head("Transfer-Encoding: chunked");
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    const chunk = body.slice(at, at + CHUNK_BYTES);
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

const many = (item: (index: number) => string) => Array.from({ length: MANY }, (_, i) => item(i));

const ANSWERS: Record<string, () => string> = {
  chunks: () => chunked(completion(`"${"words ".repeat(CHUNKED_BYTES / 6)}"`)),
  parts: () => whole(completion(`[${many(() => '{"type":"text","text":"a"}')}]`)),
  choices: () => whole(`{"choices":[${many(() => '{"message":{"content":"a"}}')}]}`),
  models: () => whole(`{"object":"list","data":[${many((index) => `{"id":"acme/${index}"}`)}]}`),
};
const made = new Map<string, Uint8Array>();
const HINTS = encode("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".repeat(1_000));

async function answer(connection: Deno.Conn): Promise<void> {
  using _ = connection;
  const buffer = new Uint8Array(65_536);
  const length = await connection.read(buffer);
  const path = new TextDecoder().decode(buffer.subarray(0, length ?? 0)).split(" ")[1] ?? "";
  const reading = (async () => {
    while (await connection.read(buffer) !== null); // until the client leaves
  })().catch(() => {});
  const write = async (bytes: Uint8Array) => {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  };
  if (path.startsWith("/hints")) { for (;;) await write(HINTS); }
  const kind = path.split("/")[1] ?? "";
  await write(made.getOrInsertComputed(kind, () => encode(ANSWERS[kind]?.() ?? whole("{}"))));
  await (connection as Deno.TcpConn).closeWrite();
  await reading;
}

if (import.meta.main) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  console.log(`listens on http://127.0.0.1:${listener.addr.port}`);
  for await (const connection of listener) answer(connection).catch(() => {}); // the client has left
}
