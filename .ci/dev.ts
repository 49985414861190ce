// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task dev`: both services and the builder of their pages. A service is started again when
 * its source changes. `deno run --watch` cannot do that: it takes the end of a service that has
 * stopped properly for its own.
 */
import process from "node:process";

const ROOT = new URL("../", import.meta.url).pathname;
const WATCHED = ["agent", "eval", "shared"];
/** Many changes at once restart a service once. */
const SETTLED_MS = 200;
/** How often it looks whether what started it still runs. */
const PARENT_MS = 500;

interface Service {
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a task until it is stopped. One that ends by itself waits for the next change. */
function start(task: string[]): Service {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", ...task],
    cwd: ROOT,
    env: { LOG_FORMAT: "text" },
    stdin: "null",
  });
  let child = command.spawn();
  let restarted = Promise.resolve();

  async function stop(): Promise<void> {
    try {
      child.kill("SIGTERM");
    } catch {
      // it has ended by itself
    }
    await child.status;
  }

  function restart(): Promise<void> {
    restarted = restarted.then(async () => {
      await stop();
      child = command.spawn();
    });
    return restarted;
  }

  return { stop, restart };
}

/** What started this script and has its process group: `deno task`, and `npx` before it. */
function listStarters(): number[] {
  const read = (pid: number) => {
    const { stdout } = new Deno.Command("ps", { args: ["-o", "ppid=,pgid=", "-p", `${pid}`] })
      .outputSync();
    return new TextDecoder().decode(stdout).trim().split(/\s+/).map(Number);
  };
  const [, ownGroup] = read(Deno.pid);
  const found = [Deno.ppid];
  for (;;) {
    const [parent = 0] = read(found.at(-1)!);
    if (parent <= 1 || read(parent)[1] !== ownGroup) return found;
    found.push(parent);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const services = { agent: start(["agent"]), eval: start(["eval"]) };
const pages = start(["pages", "--watch"]);

async function end(): Promise<never> {
  await Promise.all([...Object.values(services), pages].map(({ stop }) => stop()));
  Deno.exit(0);
}

const SIGNALS: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of SIGNALS) {
  Deno.addSignalListener(signal, () => void end());
}
if (Deno.build.os !== "windows") {
  const starters = listStarters();
  setInterval(() => {
    if (!starters.every(isRunning)) void end();
  }, PARENT_MS);
}

let changed: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function restartChanged(): void {
  const paths = changed;
  changed = [];
  for (const [name, service] of Object.entries(services)) {
    const folders = [name, "shared"].map((folder) => `${ROOT}${folder}/`);
    if (!paths.some((path) => folders.some((folder) => path.startsWith(folder)))) continue;
    console.log(`assay-${name}: restarting, its source has changed`);
    void service.restart();
  }
}

for await (const { kind, paths } of Deno.watchFs(WATCHED.map((folder) => ROOT + folder))) {
  if (kind === "access") continue;
  changed.push(...paths);
  clearTimeout(timer);
  timer = setTimeout(restartChanged, SETTLED_MS);
}
