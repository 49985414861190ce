import { errorMessage } from "../../../shared/service/errors.ts";
import { callerKeys, parseConfig, readEnvironment } from "../../../shared/service/config.ts";
import {
  createLogger,
  createRedactor,
  listSecrets,
  type Logger,
} from "../../../shared/service/log.ts";
import { isPostgresAddress } from "../../../shared/service/postgres/address.ts";
import { onStopSignal } from "../../../shared/http/stopping.ts";
import { asFields, tryParseJson } from "../../../shared/service/fields.ts";
import { findAddress } from "../../store/sqlite_connection.ts";
import { EvalConfig } from "../../config.ts";
import { EXIT, UsageError } from "../command.ts";
import {
  clearLine,
  type CliContext,
  type CliStream,
  type Interrupts,
  type ServiceLink,
} from "../context.ts";
import { readPieces, readText, realPath, requireWritable, writeText } from "./deno_files.ts";
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
  return {
    readText,
    realPath,
    readPieces,
    writeText,
    requireWritable,
    out: createStream(Deno.stdout),
    err,
    watchInterrupts,
    async openService(need, url) {
      const { EVAL_DATA: data, EVAL_SERVICE_KEY } = config();
      const address = url ?? (isPostgresAddress(data) ? undefined : await findAddress(data));
      if (address === undefined) {
        const { openOwnService } = await import("./own_service.ts");
        return await openOwnService(config(), { ...need, log: log(), encoder });
      }
      encoder.end();
      if (need.concurrency !== undefined) {
        throw new UsageError(
          `--concurrency is for runs of this process, and the service at ${address} does the work`,
        );
      }
      const [own] = callerKeys(config());
      if (url === undefined) await requireOurs(address);
      return linkTo(address, url === undefined ? own?.key : EVAL_SERVICE_KEY);
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
    now: () => performance.now(),
  };
}

/** A service that answers elsewhere. The key is for its address only: no redirect is followed. */
function linkTo(address: string, key: string | undefined): ServiceLink {
  return {
    async send(path, init) {
      const headers = new Headers(init.headers);
      if (key !== undefined) headers.set("x-api-key", key);
      const response = await fetch(address + path, { ...init, headers, redirect: "manual" })
        .catch((error) => {
          throw new UsageError(`cannot reach the service at ${address}: ${errorMessage(error)}`);
        });
      const elsewhere = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || elsewhere === null) return response;
      await response.body?.cancel();
      throw new UsageError(`${address} redirects to ${elsewhere}: name the service's own address`);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/**
 * Throws `UsageError` if something else answers at the address of the database's service. It is
 * asked without the key, which must not go to anything else.
 */
async function requireOurs(address: string): Promise<void> {
  const link = linkTo(address, undefined);
  const response = await link.send("/", { headers: { accept: "application/json" } });
  const { name } = asFields(tryParseJson(await response.text()));
  if (name === "assay-eval" || response.status === 401) return;
  throw new UsageError(`what answers at ${address} is not the service that has the database open`);
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
