import { runCli } from "../../eval/cli/cli.ts";
import { UsageError } from "../../eval/cli/command.ts";
import type { CliContext } from "../../eval/cli/context.ts";
import { createOwnService } from "../../eval/cli/process/own_service.ts";
import type { ScoringPorts } from "../../eval/score/scoring_ports.ts";
import type { ConversationMessage, Target } from "../../eval/ask/target.ts";
import type { RunStore } from "../../eval/store/store.ts";
import type { EvaluateRequest } from "../../eval/test/evaluate_request.ts";
import { fakeTarget } from "./eval_ports.ts";
import { evalDeps } from "./eval_service.ts";
import { memoryStore } from "./memory_store.ts";

export interface CliOptions {
  files?: Record<string, string>;
  answer?: (conversation: ConversationMessage[], call: number) => string;
  target?: Target;
  /** The models under test, if they are several. */
  targetOf?: (request: EvaluateRequest) => Target;
  environment?: Record<string, string>;
  isTerminal?: boolean;
  /** Of another process before this one. */
  store?: RunStore;
  scoring?: ScoringPorts;
}

/** The command line without a process: files and storage in memory, a model that is a function. */
export function cliContext(options: CliOptions = {}) {
  const { files = {}, answer = () => "fine", environment = {}, isTerminal = false } = options;
  const fake = fakeTarget(answer);
  const store = options.store ?? { ...memoryStore(), close: () => Promise.resolve() };
  const text = { out: "", err: "" };
  const interrupt = new AbortController();
  const force = new AbortController();
  const concurrencies: number[] = [];
  const stream = (name: "out" | "err") => ({
    write: (piece: string) => void (text[name] += piece),
    isTerminal,
    columns: 100,
  });
  const context: CliContext = {
    readText(path) {
      const found = files[path];
      if (found === undefined) throw new UsageError(`cannot read ${path}: no such file`);
      return Promise.resolve(found);
    },
    realPath: (path) => Promise.resolve(new URL(path, "file:///home/").pathname),
    async *readPieces(path) {
      yield await this.readText(path);
    },
    async writeText(path, pieces) {
      if (path.startsWith("full")) throw new UsageError(`cannot write ${path}: no space left`);
      files[path] = (await Array.fromAsync(pieces)).join("");
    },
    requireWritable(path) {
      if (path.startsWith("/")) throw new UsageError(`cannot write ${path}: not allowed`);
      return Promise.resolve();
    },
    out: stream("out"),
    err: stream("err"),
    watchInterrupts: () => ({
      first: interrupt.signal,
      second: force.signal,
      [Symbol.dispose]() {},
    }),
    async openService({ concurrency = 8 }) {
      concurrencies.push(concurrency);
      const { deps } = evalDeps(undefined, {
        environment: { EVAL_CONCURRENCY: String(concurrency), ...environment },
        ...{ store, target: fake.target },
        ...options.target && { target: options.target },
        ...options.targetOf && { targetOf: options.targetOf },
        ...options.scoring && { scoring: options.scoring },
      });
      const service = await createOwnService(deps);
      return {
        send: (path, init) => service(new Request(`http://assay${path}`, init)),
        [Symbol.asyncDispose]: () => store.close(),
      };
    },
    backUp(path) {
      files[path] = "a copy";
      return Promise.resolve();
    },
    now: () => 0,
  };
  return {
    files,
    store,
    asked: fake.asked,
    concurrencies,
    interrupt: () => interrupt.abort(),
    force: () => force.abort(),
    /** Runs one command; gives its exit code and what it wrote. */
    async run(...args: string[]) {
      text.out = text.err = "";
      const code = await runCli(args, context);
      return { code, ...text };
    },
    /** What was written so far. */
    written: () => ({ ...text }),
  };
}

/** Scenarios of one turn that expects `right`, as a batch file. */
export function batchFile(count: number): string {
  return Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      id: `s${index}`,
      interactions: [{ id: "t", user_message: `question ${index}`, reference_reply: "right" }],
    })).join("\n");
}
