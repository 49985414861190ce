import { assertEquals } from "@std/assert";
import { createPostgresPool } from "../../shared/service/postgres/pool.ts";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";

/** A certificate for `localhost` that `ca.pem` has signed; `false` without openssl. */
async function createCertificate(folder: string): Promise<boolean> {
  const script = `cd ${folder} &&
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \
      -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem &&
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out request.pem &&
    printf subjectAltName=DNS:localhost > names &&
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
      -extfile names -out cert.pem &&
    chmod 600 key.pem && chmod 755 . && { [ "$(id -u)" != 0 ] || chown postgres: . key.pem; }`;
  const { success } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  return success;
}

/** Whether a connection to the address is encrypted, or why there is none. */
async function isEncrypted(address: string): Promise<boolean | "refused"> {
  const pool = await createPostgresPool({ address, max: 1, name: "test" });
  try {
    const { rows: [row] } = await pool.query<{ ssl: boolean }>({
      text: "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    });
    return row!.ssl;
  } catch {
    return "refused";
  } finally {
    await pool.end();
  }
}

Deno.test({
  name: "sslmode has the meaning that it has for libpq",
  ignore: postgresBin === undefined,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      if (!await createCertificate(folder)) return; // no openssl here
      await using server = await startPostgres([
        "ssl=on",
        `ssl_cert_file=${folder}/cert.pem`,
        `ssl_key_file=${folder}/key.pem`,
      ]);
      const address = await server.createDatabase();
      const verified = `sslmode=verify-full&sslrootcert=${folder}/ca.pem`;

      const connect = (host: string, query: string) =>
        isEncrypted(`${address.replace("127.0.0.1", host)}?${query}`);
      assertEquals(await connect("127.0.0.1", "sslmode=disable"), false);
      assertEquals(await connect("127.0.0.1", "sslmode=require"), true);
      assertEquals(await connect("127.0.0.1", "sslmode=verify-full"), "refused");
      assertEquals(await connect("127.0.0.1", verified), "refused", "it is another name");
      assertEquals(await connect("localhost", verified), true);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
