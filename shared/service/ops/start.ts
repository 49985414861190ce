import type { z } from "zod";
import {
  callerKeys,
  type CommonConfig,
  ConfigError,
  explainIdleVariables,
  explainQuotedVariables,
  parseConfig,
  readEnvironment,
} from "../config.ts";
import { type CallerKey, isLoopback } from "../../http/guards.ts";
import { currentRequest } from "./tracing.ts";
import type { Service } from "../../http/router.ts";
import { serve } from "../../http/server.ts";
import type { StopOptions } from "../../http/stopping.ts";
import {
  createLineWriter,
  createLogger,
  createRedactor,
  isSecretVariable,
  listSecrets,
  type LogFormat,
  type Logger,
} from "../log.ts";
import { type Metrics, startLagSampler } from "./metrics.ts";
import { describePostgres, isPostgresAddress } from "../postgres/address.ts";
import { describeVersion } from "./version.ts";

/** What a `main.ts` defines about its service. */
export interface ServiceDefinition<S extends z.ZodObject> {
  /** `assay-agent`; used in the log. */
  name: string;
  schema: S;
  portVariable: keyof z.output<S> & string;
  /**
   * Returns warnings of settings without effect. Throws `ConfigError` for a configuration with which
   * the service must not start.
   */
  check(config: z.output<S>): string[] | Promise<string[]>;
  /** Wires the service; may throw `ConfigError`. */
  create(config: z.output<S>, log: Logger): StartedService | Promise<StartedService>;
}

export interface StartedService extends Pick<StopOptions, "stop" | "abandon" | "close"> {
  service: Service;
  metrics?: Metrics;
  /** Further fields of the log line with the address. */
  fields?: Record<string, string> | undefined;
  /** For people at a terminal: what to try at this address. */
  hints?: (url: string) => string[];
  /** Begins the background work, once the port is open at this address. */
  begin?: (url: string) => Promise<void>;
}

/**
 * Runs what `args` ask for: serves until a signal, or prints something and exits. An invalid
 * configuration exits with 1 and a message, without a stack trace.
 */
export async function startService<S extends z.ZodObject>(
  definition: ServiceDefinition<S>,
  args: string[] = Deno.args,
): Promise<void> {
  const { name, schema } = definition;
  const action = parseAction(args);
  const help = () => renderHelp({ name, variables: Object.keys(schema.shape) });
  try {
    if (action === "serve") await serveService(definition);
    else if (action === "check") await checkService(definition);
    else if (action === "version") writeLine(renderVersion(name));
    else if (action === "help") writeLine(help());
    else end(`${name}: unexpected argument "${action.unknown}"\n\n${help()}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    end(error.message);
  }
}

async function serveService<S extends z.ZodObject>(
  definition: ServiceDefinition<S>,
): Promise<void> {
  const { name, schema, portVariable } = definition;
  const { config, common, format, log, lines, warnings } = await configure(definition);
  for (const end of ["unload", "error"]) globalThis.addEventListener(end, lines.flush);
  const started = await definition.create(config, log);
  const { metrics, fields, hints, begin } = started;
  surviveUnhandledRejections(log);
  if (metrics) startLagSampler(metrics);
  log.info(`${name} is configured`, summarise(schema, config));
  for (const warning of warnings) log.warn(warning);
  if (!isLoopback(common.HOST)) {
    log.info("HOST is reachable from a network: put a proxy in front that limits slow clients", {
      see: "docs/deploy.md#behind-a-proxy",
    });
  }
  serve({
    ...started,
    name,
    portVariable,
    hostname: common.HOST,
    port: Number(config[portVariable]),
    graceMs: common.SHUTDOWN_GRACE_MS,
    log,
    onListen(url) {
      log.info(`${name} listens on ${url}`, { url, ...fields });
      lines.flush();
      const isForPeople = format === "text" && ["debug", "info"].includes(common.LOG_LEVEL);
      if (isForPeople) hints?.(url).forEach((line) => lines.write(line, "info"));
      begin?.(url).catch((error) =>
        log.error(`${name} cannot start its background work`, { error })
      );
    },
  });
}

const MIN_KEY_LENGTH = 16;

/** By name only: keys are never shown. */
function explainShortKeys(keys: CallerKey[]): string[] {
  const names = keys.filter(({ key }) => key.length < MIN_KEY_LENGTH).map(({ name }) => name);
  if (names.length === 0) return [];
  const length = `fewer than ${MIN_KEY_LENGTH} characters`;
  return [`API_KEYS contains keys of ${length}, which can be guessed: ${names.join(", ")}`];
}

/** Starts and changes nothing, so that it can run while the service is running. */
async function checkService<S extends z.ZodObject>(
  definition: ServiceDefinition<S>,
): Promise<void> {
  const { name, schema } = definition;
  const { config, redact, warnings } = await configure(definition);
  writeLine(`${name}: the configuration is valid`);
  for (const [variable, value] of Object.entries(summarise(schema, config))) {
    writeLine(redact(`  ${variable}: ${value}`));
  }
  for (const warning of warnings) writeLine(`warning: ${warning}`);
}

async function configure<S extends z.ZodObject>(
  { schema, check }: ServiceDefinition<S>,
) {
  const environment = await readEnvironment(schema);
  const config = parseConfig(schema, environment);
  const idle = await check(config);
  const common = config as unknown as CommonConfig;
  const warnings = [
    ...explainQuotedVariables(environment),
    ...explainIdleVariables(schema, config),
    ...idle,
    ...explainShortKeys(callerKeys(common)),
  ];
  const format: LogFormat = common.LOG_FORMAT ?? (Deno.stdout.isTerminal() ? "text" : "json");
  const redact = createRedactor(listSecrets(config));
  const lines = createLineWriter(
    writeLine,
    (count) => log.warn("lines of the log were lost: they could not be written", { lines: count }),
  );
  const log: Logger = createLogger({ level: common.LOG_LEVEL, format, write: lines.write, redact });
  return { config, common, format, redact, log, lines, warnings };
}

function summarise<S extends z.ZodObject>(schema: S, config: z.output<S>): Record<string, string> {
  return summariseConfig(config, parseConfig(schema, {}));
}

/** Shown instead of a secret. */
const HIDDEN = "set";

/**
 * The configuration for the first log line: every variable that differs from its default. Secrets
 * are shown as `set`, several keys by their number. So is the content of a file that is given in
 * place of its path: it may contain keys. URLs lose every part that may be a secret.
 */
export function summariseConfig(
  config: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, string> {
  const summary: Record<string, string> = {};
  for (const [variable, value] of Object.entries(config)) {
    const text = render(value);
    if (value === undefined || text === render(defaults[variable])) continue;
    summary[variable] = isSecretVariable(variable) ? describeSecret(value) : text;
  }
  return summary;
}

function describeSecret(value: unknown): string {
  if (Array.isArray(value)) return describeKeys(value);
  if (typeof value !== "object" || value === null) return HIDDEN;
  return `${HIDDEN} for ${Object.keys(value).join(", ")}`;
}

/** `API_KEYS=none` means that callers need none: it is not a key. */
function describeKeys(values: unknown[]): string {
  const keys = values.filter((value) => value !== "none");
  return keys.length > 0 ? `${keys.length} ${HIDDEN}` : "none";
}

function render(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  if (value.trimStart().startsWith("{")) return HIDDEN;
  return isPostgresAddress(value) ? describePostgres(value) : value;
}

function end(message: string): never {
  // deno-lint-ignore no-console -- there is no log before there is a configuration
  console.error(message);
  Deno.exit(1);
}

// deno-lint-ignore no-console -- the log goes to standard output, and this is its only way there
const writeLine: (line: string) => void = console.log;

/**
 * Logs unhandled promise rejections, with the request that they belong to, and keeps the process
 * running: a failure of one request must not end the others.
 */
function surviveUnhandledRejections(log: Logger): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("unhandled promise rejection", {
      request_id: currentRequest()?.requestId,
      error: event.reason instanceof Error ? event.reason : new Error(String(event.reason)),
    });
  });
}

/** What the arguments ask for. */
type Action = "serve" | "check" | "help" | "version" | { unknown: string };

const ACTIONS: Record<string, Action> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-V": "version",
  "--check": "check",
};

/** Without an argument the service serves. Only one action is accepted, except that help wins. */
function parseAction(args: string[]): Action {
  const actions = args.map((arg) => (Object.hasOwn(ACTIONS, arg) ? ACTIONS[arg] : undefined));
  if (actions.includes("help")) return "help";
  const [first = "serve"] = actions;
  const unknown = actions[0] === undefined ? args[0] : args[1];
  return unknown === undefined ? first : { unknown };
}

/** The text of `--help`; `variables` are those that the service reads. */
function renderHelp({ name, variables }: { name: string; variables: string[] }): string {
  return [
    `${name}            serve`,
    `${name} --check    validate and print the configuration, and exit`,
    `${name} --version  print the version, and exit`,
    `${name} --help     print this help, and exit`,
    "",
    "Configured by environment variables, also from .env in the working folder:",
    ...variables.map((variable) => `  ${variable}`),
  ].join("\n");
}

/** The text of `--version`: one line for people, and enough for a bug report. */
function renderVersion(name: string): string {
  const { version, commit, deno, libraries } = describeVersion(name);
  const parts = Object.entries(libraries).map(([library, of]) => `${library} ${of}`);
  return `${name} ${version} (${commit}), deno ${deno}, ${parts.join(", ")}`;
}
