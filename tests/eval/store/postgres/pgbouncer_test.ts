import { assertEquals, assertRejects } from "@std/assert";
import { openSharing } from "../../../../eval/run/sharing/open_sharing.ts";
import { ConfigError } from "../../../../shared/service/config.ts";
import { silentLogger } from "../../../../shared/service/log.ts";
import { freePort } from "../../../fakes/free_port.ts";
import { postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "../../../fakes/eval_service.ts";

const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find(isFile);
const ignore = postgresBin === undefined || PROGRAM === undefined;

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A pooler before a database; `address` leads through it. */
async function startPgBouncer(database: string, mode: "session" | "transaction") {
  const url = new URL(database);
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const name = url.pathname.slice(1);
  await Deno.writeTextFile(`${folder}/users`, `"${url.username}" "${url.password}"\n`);
  await Deno.writeTextFile(
    `${folder}/pgbouncer.ini`,
    `[databases]
${name} = host=127.0.0.1 port=${url.port} user=${url.username} password=${url.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${folder}/users
pool_mode = ${mode}
`,
  );
  const isRoot = Deno.uid() === 0;
  await new Deno.Command("chmod", { args: ["-R", "a+rX", folder] }).output();
  const child = new Deno.Command(PROGRAM!, {
    args: [...(isRoot ? ["-u", "postgres"] : []), `${folder}/pgbouncer.ini`],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const output = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("process up")) {
    const { value, done } = await output.read();
    if (done) throw new Error(`pgbouncer did not start: ${said}`);
    said += value;
  }
  const address = Object.assign(new URL(database), { port: String(port) }).href;
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await output.cancel();
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const OPTIONS = { maxConnections: 4, concurrency: 2, log: silentLogger, isExclusive: false };

Deno.test({
  name: "runs are stored and handed out through PgBouncer in session mode",
  ignore,
  async fn() {
    await using server = await startPostgres();
    await using pooler = await startPgBouncer(await server.createDatabase(), "session");
    const { store, sharing } = await openSharing({ ...OPTIONS, address: pooler.address });
    const { service, runs } = evalService(() => "", { store, sharing });
    assertEquals((await service(evaluateRequestOf(evaluateBody()))).status, 200);
    await runs.stop();
    await store.close();
  },
});

Deno.test({
  name: "PgBouncer in transaction mode stops the start, with the reason",
  ignore,
  async fn() {
    await using server = await startPostgres();
    await using pooler = await startPgBouncer(await server.createDatabase(), "transaction");
    const { address } = pooler;
    await assertRejects(
      () => openSharing({ ...OPTIONS, address }),
      ConfigError,
      "shares connections between sessions, as PgBouncer does with pool_mode=transaction",
    );
  },
});
