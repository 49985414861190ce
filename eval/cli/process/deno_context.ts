import { errorMessage } from "../../../shared/service/errors.ts";
import {
  ConfigError,
  explainIdleVariables,
  parseConfig,
  readEnvironment,
} from "../../../shared/service/config.ts";
import { createOutgoingFetch } from "../../../shared/http/outgoing_fetch.ts";
import {
  createLogger,
  createRedactor,
  listSecrets,
  type Logger,
} from "../../../shared/service/log.ts";
import { isPostgresAddress } from "../../../shared/service/postgres/address.ts";
import { onStopSignal } from "../../../shared/http/stopping.ts";
import { isForEncoder } from "../../score/references.ts";
import { EvalConfig } from "../../config.ts";
import { createEndpointPolicy } from "../../ask/policy.ts";
import type { OpenedData } from "../../run/open_data.ts";
import { EXIT, UsageError } from "../command.ts";
import type { ScoringPorts } from "../../score/scoring_ports.ts";
import { clearLine, type CliContext, type CliStream, type Interrupts } from "../context.ts";
import { readPieces, readText, realPath, requireWritable, writeText } from "./deno_files.ts";
import type { FindShutdowns } from "../../wiring.ts";
import type { EncoderAhead } from "./encoder_ahead.ts";

/** The context of a real process: files, streams, signals, storage and the network. */
export async function createDenoContext(encoder: EncoderAhead): Promise<CliContext> {
  // Validated when it is needed: `--help` must not fail because of an invalid variable.
  const environment = await readEnvironment(EvalConfig).then(
    (read) => () => read,
    (error) => () => {
      throw error;
    },
  );
  let known: EvalConfig | undefined;
  const config = () => known ??= parseConfig(EvalConfig, environment());
  const err = createStream(Deno.stderr);
  const log = () => createCliLogger(config(), err);
  let opened: OpenedData | undefined;
  let findShutdowns: FindShutdowns | undefined;

  async function scoring(): Promise<ScoringPorts> {
    const { createScoringPorts } = await import("../../score/wiring.ts");
    return createScoringPorts(config(), createOutgoingFetch());
  }

  return {
    readText,
    realPath,
    readPieces,
    writeText,
    requireWritable,
    out: createStream(Deno.stdout),
    err,
    watchInterrupts,
    async openReader() {
      const { EVAL_DATA: path } = config();
      if (!isPostgresAddress(path)) {
        const { openReader } = await import("../../store/open_store.ts");
        return await openReader({ path });
      }
      const { openPostgresReader } = await import("../../store/open_postgres.ts");
      return await openPostgresReader(path);
    },
    async openStore({ isForRuns = false, mustExist = false } = {}) {
      if (mustExist) await requireFile(config().EVAL_DATA);
      const { openData } = await import("../../run/open_data.ts");
      const opening = openData(config(), { log: log(), isExclusive: true });
      opening.catch(() => {}); // thrown below
      if (isForRuns) await import("../../wiring.ts"); // while the database's own thread opens it
      opened = await opening;
      return opened.store;
    },
    prepareScoring({ test_batch }) {
      if (config().EMBEDDINGS_BASE_URL || !isForEncoder(test_batch)) encoder.end();
    },
    async backUp(target) {
      if (isPostgresAddress(config().EVAL_DATA)) {
        throw new UsageError("EVAL_DATA is a PostgreSQL database: back it up with pg_dump");
      }
      const { backUpDatabase } = await import("../../store/backup.ts");
      try {
        await backUpDatabase({ path: config().EVAL_DATA, target });
      } catch (error) {
        const reason = errorMessage(error);
        throw new UsageError(`cannot back up ${config().EVAL_DATA} to ${target}: ${reason}`);
      }
    },
    async createManager(store, concurrency = config().EVAL_CONCURRENCY) {
      const { createEvalDeps } = await import("../../wiring.ts");
      const { countEncoders } = await import("../../score/wiring.ts");
      const wanted = { ...config(), EVAL_CONCURRENCY: concurrency };
      for (const warning of explainIdleVariables(EvalConfig, config())) log().warn(warning);
      // Unlike a service, a command handles no other requests meanwhile.
      const starts = { encoder: encoder.start, encoders: countEncoders() };
      const deps = createEvalDeps(wanted, { log: log(), ...opened, store, starts });
      findShutdowns = deps.findShutdowns;
      return deps.runs;
    },
    async findShutdowns(requests) {
      const asked = requests.flatMap(({ endpoint, model_id }) =>
        endpoint === undefined ? [] : [{ endpoint, model_id }]
      );
      return await findShutdowns?.(asked) ?? [];
    },
    requireAllowed({ endpoint }) {
      if (endpoint !== undefined) createEndpointPolicy(config()).requireAllowed(endpoint);
    },
    async describeScores() {
      const { describeScores } = await import("../../score/scorers.ts");
      return describeScores(await scoring());
    },
    async judge() {
      return (await scoring()).judge;
    },
    scoring,
    get maxAttempts() {
      return config().EVAL_MAX_ATTEMPTS;
    },
    now: () => performance.now(),
  };
}

/** Throws `ConfigError` if there is no such file. Other faults are those of opening it. */
async function requireFile(path: string): Promise<void> {
  if (isPostgresAddress(path)) return;
  const fault = await Deno.stat(path).catch((error: unknown) => error);
  if (fault instanceof Deno.errors.NotFound) {
    throw new ConfigError(`cannot open EVAL_DATA=${path}: there is no such file`);
  }
}

/** Lines for people, without the secrets of the configuration. The bar is drawn again below them. */
export function createCliLogger(config: EvalConfig, stream: CliStream): Logger {
  const write = (line: string) => stream.write(`${clearLine(stream)}${line}\n`);
  const redact = createRedactor(listSecrets(config));
  return createLogger({ level: config.LOG_LEVEL, format: "text", write, redact });
}

function createStream(stream: typeof Deno.stdout | typeof Deno.stderr): CliStream {
  const encoder = new TextEncoder();
  const isTerminal = stream.isTerminal();
  return {
    isTerminal,
    get columns() {
      return isTerminal ? Deno.consoleSize().columns : 80;
    },
    write(text) {
      let bytes = encoder.encode(text);
      try {
        while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) Deno.exit(EXIT.brokenPipe);
        // The work itself continues without messages.
        if (stream === Deno.stderr) return;
        throw new UsageError(`cannot write standard output: ${errorMessage(error)}`);
      }
    },
  };
}

/** Listens for stop signals. The third one ends the process at once. */
function watchInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  const stopListening = onStopSignal(() => {
    if (second.signal.aborted) Deno.exit(EXIT.interrupted);
    (first.signal.aborted ? second : first).abort();
  });
  return {
    first: first.signal,
    second: second.signal,
    [Symbol.dispose]: stopListening,
  };
}
