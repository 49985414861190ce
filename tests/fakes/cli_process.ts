import { permissionFlags, unstableFlags } from "../../.ci/task_flags.ts";

const ROOT = new URL("../../", import.meta.url);

/** What a finished process left behind. */
export interface CliOutcome {
  code: number;
  out: string;
  err: string;
}

export interface CliProcess {
  kill(signal: Deno.Signal): void;
  /** Settles once the standard error contains this text; rejects if the process ends without it. */
  said(text: string): Promise<void>;
  readonly outcome: Promise<CliOutcome>;
}

/** `assay-eval` as a process of its own, with the permissions that it has in production. */
export function startCli(
  args: string[],
  { cwd, environment = {}, input, shell }: {
    cwd: string;
    environment?: Record<string, string>;
    /** What it reads from its standard input. */
    input?: Uint8Array<ArrayBuffer>;
    /** A command of the shell that starts it, as `"$@"`. */
    shell?: string;
  },
): CliProcess {
  const [program, ...words] = [...shell ? ["sh", "-c", shell, "sh"] : [], Deno.execPath()];
  const child = new Deno.Command(program!, {
    args: [
      ...words,
      "run",
      "--no-prompt",
      ...unstableFlags("eval"),
      `--config=${new URL("deno.json", ROOT).pathname}`,
      ...permissionFlags("eval"),
      new URL("eval/main.ts", ROOT).pathname,
      ...args,
    ],
    cwd,
    env: environment,
    stdin: input ? "piped" : "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input) ReadableStream.from([input]).pipeTo(child.stdin).catch(() => {}); // it may have ended
  let err = "";
  const listeners = new Set<() => void>();
  async function listen(): Promise<string> {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      err += text;
      for (const listener of listeners) listener();
    }
    return err;
  }
  const outcome = Promise.all([child.status, new Response(child.stdout).text(), listen()])
    .then(([{ code }, out, err]) => ({ code, out, err }));
  return {
    kill: (signal) => child.kill(signal),
    outcome,
    said(text) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = () => err.includes(text) && resolve();
      listeners.add(look);
      look();
      outcome.then(() => reject(new Error(`it never said "${text}":\n${err}`)));
      return promise;
    },
  };
}
