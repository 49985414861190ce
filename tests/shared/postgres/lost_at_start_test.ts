import { assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { createPostgresPool } from "../../../shared/postgres/pool.ts";

const encoder = new TextEncoder();

/** A message of PostgreSQL's protocol: its kind, its length, its content. */
function message(kind: string, content: string): Uint8Array {
  const bytes = new Uint8Array(5 + content.length);
  bytes.set(encoder.encode(kind + "\0\0\0\0" + content));
  new DataView(bytes.buffer).setUint32(1, 4 + content.length);
  return bytes;
}

Deno.test("a connection that is ended together with its start is an error, not the end of the process", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(1000));
      const consent = [message("R", "\0\0\0\0"), message("Z", "I")];
      const end = message("E", "SFATAL\0C57P01\0Mterminating connection\0\0");
      await connection.write(new Uint8Array([...consent, end].flatMap((bytes) => [...bytes])));
      connection.close();
    }
  })();
  const pool = await createPostgresPool({
    address: `postgres://a:b@127.0.0.1:${listener.addr.port}/c`,
    max: 1,
    name: "test",
  });
  await assertRejects(() => pool.query({ text: "select 1" }), AppError);
  await pool.end();
  listener.close();
  await serving;
});
