import { openPostgres } from "../../eval/store/open_postgres.ts";
import { freePort } from "./free_port.ts";

/** A real PostgreSQL in a folder of its own, on a free port of loopback. */
export interface PostgresServer extends AsyncDisposable {
  /** Creates an empty database and returns its address. */
  createDatabase(): Promise<string>;
  /** Stops it at once, as a crash or a restart does, or with `SIGSTOP` and `SIGCONT` for a while. */
  stop(): Promise<void>;
  start(): Promise<void>;
  signal(signal: Deno.Signal): void;
  /** Its processes. */
  pids(): number[];
}

const PASSWORD = "s3cret-passw0rd";

/**
 * Where `initdb` and `postgres` are: `POSTGRES_BIN`, the folders of Debian, or the path. `undefined`
 * if this machine has none.
 */
export function findPostgres(): string | undefined {
  const folders = [
    Deno.env.get("POSTGRES_BIN") ?? "",
    ...listDebian(),
    ...(Deno.env.get("PATH") ?? "").split(":"),
  ];
  return folders.find((folder) => folder !== "" && isFile(`${folder}/initdb`));
}

function listDebian(): string[] {
  try {
    return [...Deno.readDirSync("/usr/lib/postgresql")]
      .map(({ name }) => `/usr/lib/postgresql/${name}/bin`)
      .toSorted((a, b) => b.localeCompare(a, undefined, { numeric: true }));
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * For tests that need a server: without one they are skipped, and one line says so.
 * PostgreSQL refuses to run as root, so root starts it as the user `postgres`.
 */
export const postgresBin = findPostgres();
if (postgresBin === undefined) {
  // deno-lint-ignore no-console -- the line that says why the tests are skipped
  console.warn(
    "skipped: tests on PostgreSQL (no initdb in POSTGRES_BIN, /usr/lib/postgresql, PATH)",
  );
}

export async function startPostgres(options: string[] = []): Promise<PostgresServer> {
  const bin = postgresBin!;
  const data = await Deno.makeTempDir({ prefix: "assay-postgres-" });
  const isRoot = Deno.uid() === 0;
  const asUser = (command: string, args: string[]) =>
    isRoot
      ? new Deno.Command("setpriv", {
        args: ["--reuid=postgres", "--regid=postgres", "--clear-groups", command, ...args],
        cwd: data,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      })
      : new Deno.Command(command, { args, stdin: "null", stdout: "piped", stderr: "piped" });

  async function run(command: string, args: string[]): Promise<void> {
    const { success, stderr } = await asUser(`${bin}/${command}`, args).output();
    if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
  }

  if (isRoot) await chown(data);
  const secret = `${data}/password`;
  await Deno.writeTextFile(secret, PASSWORD);
  if (isRoot) await chown(secret);
  const folder = `${data}/data`;
  await run("initdb", [
    "-D",
    folder,
    "-U",
    "assay",
    "-A",
    "scram-sha-256",
    `--pwfile=${secret}`,
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ]);
  const port = freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: data,
    max_connections: "200",
    ...Object.fromEntries(options.map((option) => option.split("=") as [string, string])),
  };

  async function start(): Promise<void> {
    const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`).join(" ");
    await run("pg_ctl", ["-D", folder, "-o", flags, "-l", `${data}/log`, "-w", "-s", "start"]);
  }

  const pid = () => Number(Deno.readTextFileSync(`${folder}/postmaster.pid`).split("\n")[0]);

  await start();
  let databases = 0;
  return {
    start,
    stop: () => run("pg_ctl", ["-D", folder, "-m", "fast", "-w", "-s", "stop"]),
    signal(signal) {
      for (const one of [pid(), ...childrenOf(pid())]) Deno.kill(one, signal);
    },
    pids: () => [pid(), ...childrenOf(pid())],
    async createDatabase() {
      const name = `assay_${++databases}`;
      const { success, stderr } = await new Deno.Command(`${bin}/createdb`, {
        args: ["-h", "127.0.0.1", "-p", String(port), "-U", "assay", name],
        env: { PGPASSWORD: PASSWORD },
      }).output();
      if (!success) throw new Error(new TextDecoder().decode(stderr));
      return `postgres://assay:${PASSWORD}@127.0.0.1:${port}/${name}`;
    },
    async [Symbol.asyncDispose]() {
      await run("pg_ctl", ["-D", folder, "-m", "immediate", "-w", "-s", "stop"]).catch(() => {});
      await Deno.remove(data, { recursive: true });
    },
  };
}

async function chown(path: string): Promise<void> {
  const { success } = await new Deno.Command("chown", { args: ["postgres:", path] }).output();
  if (!success) throw new Error(`cannot give ${path} to the user postgres`);
}

function childrenOf(pid: number): number[] {
  const { stdout } = new Deno.Command("ps", { args: ["-o", "pid=", "--ppid", String(pid)] })
    .outputSync();
  return new TextDecoder().decode(stdout).split("\n").map(Number).filter((child) => child > 0);
}

/** The store alone; nothing works on its runs. */
export function openSharedStore(address: string, { now }: { now?: () => number } = {}) {
  return openPostgres({
    address,
    maxConnections: 4,
    openJobs: () => Promise.resolve({ add: () => Promise.resolve() }),
    ...(now && { now }),
  });
}
