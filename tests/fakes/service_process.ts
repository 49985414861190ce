import { permissionFlags, unstableFlags, v8Flags } from "../../.ci/task_flags.ts";

const ROOT = new URL("../../", import.meta.url);

/** A service as it runs in production: its own process, its own permissions, a real port. */
export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Every line that it has printed so far, standard error included. */
  readonly lines: readonly string[];
  kill(signal: Deno.Signal): void;
  /** Settles when the process has ended. */
  readonly status: Promise<Deno.CommandStatus>;
}

export interface ServiceProcessOptions {
  environment?: Record<string, string>;
  /** The working folder, where `.env` is read; a new empty one unless named. */
  cwd?: string;
  /** Shell commands before the start, such as `ulimit`. */
  limits?: string;
  /** Further flags of `deno run`: permissions that a start may add. */
  flags?: string[];
  /** Another script than the service's own, with the service's permissions. */
  script?: string;
}

/** Starts `programOf` a service on a free port and waits until it says where it listens. */
export function startServiceProcess(
  service: "agent" | "eval",
  options: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  const { program, args } = programOf(service, options);
  return startProcess(args, { ...options, program });
}

/**
 * What runs a service: `deno` with its source or, if `ASSAY_BINARIES` names the folder of the
 * compiled services, one of these.
 */
export function programOf(
  service: "agent" | "eval",
  options: ServiceProcessOptions = {},
): { program: string; args: string[] } {
  const folder = Deno.env.get("ASSAY_BINARIES");
  if (!folder) return { program: Deno.execPath(), args: commandOf(service, options) };
  return { program: `${Deno.realPathSync(folder)}/assay-${service}`, args: [] };
}

/** Starts a service by any arguments of `deno`. */
export async function startProcess(
  args: string[],
  { environment = {}, cwd, limits = ":", program = Deno.execPath() }: ServiceProcessOptions & {
    program?: string;
  },
): Promise<ServiceProcess> {
  const folder = cwd ?? await Deno.makeTempDir();
  const child = new Deno.Command("sh", {
    args: ["-c", `${limits}; exec "$0" "$@"`, program, ...args],
    cwd: folder,
    env: { AGENT_PORT: "0", EVAL_PORT: "0", ...quietHub(environment), ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  const lines: string[] = [];
  const listening = Promise.withResolvers<string>();
  const drained = Promise.all([collect(child.stdout), collect(child.stderr)]);

  async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        const url = /listens on (http:\/\/[^"\s]+)/.exec(line)?.[1];
        if (url) listening.resolve(url);
      }
    }
  }

  const status = Promise.all([child.status, drained]).then(([status]) => status);
  status.then(({ code, signal }) =>
    listening.reject(
      new Error(`the service did not start (${signal ?? code}):\n${lines.join("\n")}`),
    )
  );
  listening.promise.catch(() => {}); // awaited below
  const url = await listening.promise;

  // Without this, a test would wait for ever for the output of a process that has ended.
  let mayEnd = false;
  status.then(({ code, signal }) => {
    if (mayEnd) return;
    throw new Error(`the service ended by itself (${signal ?? code}):\n${lines.join("\n")}`);
  });

  return {
    url,
    pid: child.pid,
    lines,
    get status() {
      mayEnd = true;
      return status;
    },
    kill(signal) {
      mayEnd = true;
      child.kill(signal);
    },
    async [Symbol.asyncDispose]() {
      mayEnd = true;
      try {
        child.kill("SIGKILL");
      } catch {
        // it has ended by itself
      }
      await status;
      if (!cwd) await Deno.remove(folder, { recursive: true });
    },
  };
}

/** With bare models the hub's list is not read at the start, which would take a scripted answer. */
function quietHub({ HUB_BASE_URL }: Record<string, string>): Record<string, string> {
  return HUB_BASE_URL ? { HUB_BARE_MODELS: "on" } : {};
}

/** Runs a service that prints something and ends; `output` is both of its streams. */
export async function runServiceCommand(
  service: "agent" | "eval",
  args: string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const cwd = await Deno.makeTempDir();
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...commandOf(service), ...args],
      cwd,
      env: environment,
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code, output: text.decode(stdout) + text.decode(stderr) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

/** The arguments of `deno` that run a service as its task does. */
export function commandOf(
  service: "agent" | "eval",
  { flags = [], script = new URL(`${service}/main.ts`, ROOT).pathname }: ServiceProcessOptions = {},
): string[] {
  return [
    "run",
    "--no-prompt",
    ...unstableFlags(service),
    ...v8Flags(service),
    `--config=${new URL("deno.json", ROOT).pathname}`,
    ...permissionFlags(service),
    ...flags,
    script,
  ];
}
