import { isIP } from "node:net";
import { errorMessage } from "./errors.ts";
import { filterFields, tryParseJson } from "./fields.ts";
import { z } from "zod";
import {
  type CallerKey,
  explainDeadOrigin,
  isLoopback,
  parseCallerKeys,
  plainAddress,
} from "../http/guards.ts";
import { isHeaderValue } from "../http/headers.ts";
import type { Rate } from "../http/rate_limit.ts";
import { LOG_LEVELS } from "./log.ts";

/** A configuration that cannot be used. The message names each variable and what is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A whole number in a range. */
export function integer(fallback: number, range: { min?: number; max?: number } = {}) {
  return wholeNumber(range).default(fallback);
}

/** The same without a default. */
export function wholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  const error = `must be a whole number${describeRange(min, max)}`;
  return z.coerce.number({ error }).int({ error }).min(min).max(max);
}

function describeRange(min: number, max: number): string {
  return max < Number.MAX_SAFE_INTEGER ? ` from ${min} to ${max}` : ` of ${min} or more`;
}

/** The longest time of a timer, some 24 days; a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time in milliseconds. */
export function milliseconds(fallback: number, { min = 0 } = {}) {
  return integer(fallback, { min, max: MAX_TIMER_MS });
}

/** `a, b` → `["a", "b"]`. */
export function list(fallback: string[] = []) {
  const split = (text: string) => text.split(",").map((item) => item.trim()).filter(Boolean);
  return z.string().transform(split).default(fallback);
}

/** A list of origins. One that no browser ever sends is refused. */
function origins(fallback: string[]) {
  return list(fallback).superRefine((entries, context) => {
    for (const entry of entries) {
      const reason = explainDeadOrigin(entry);
      if (reason) context.addIssue(`"${entry}" can never match an origin: ${reason}`);
    }
  });
}

/**
 * A list of IP addresses, each in the form in which sockets report it. A name or a network would
 * never match.
 */
function ipAddresses() {
  return list().transform((entries, context) =>
    entries.map((entry) => {
      const plain = toPlainAddress(entry);
      if (plain === undefined) {
        context.addIssue(`"${entry}" is not an IP address; names and networks are not supported`);
      }
      return plain ?? entry;
    })
  );
}

/** An address, also in brackets, or a name. Only the start shows whether the machine has it. */
function host(fallback: string) {
  const error = "must be an IP address or a host name, without a scheme and a port";
  return z.string().trim().transform((text) => text.replace(/^\[(.*)\]$/, "$1"))
    .refine((text) => isIP(text) !== 0 || /^[\w-]+(\.[\w-]+)*\.?$/.test(text), { error })
    .default(fallback);
}

function toPlainAddress(entry: string): string | undefined {
  const text = plainAddress(entry.replace(/^\[|\]$/g, ""));
  if (text.includes(":")) return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  return URL.parse(`http://${text}/`)?.hostname === text && /^[\d.]+$/.test(text)
    ? text
    : undefined;
}

/** An http or https URL; a slash at its end is removed. */
export function address() {
  return z.url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional();
}

/** Refuses `X_BASE_URL` with a user and password if `X_API_KEY` is set: a call has one credential. */
export function checkCredentials(services: string[]) {
  return (config: Record<string, unknown>, context: z.RefinementCtx): void => {
    for (const service of services) {
      const [address, key] = [`${service}_BASE_URL`, `${service}_API_KEY`];
      const url = config[address];
      if (typeof url !== "string" || !config[key]) continue;
      const { username, password } = new URL(url);
      if (username === "" && password === "") continue;
      const message =
        `has a user or a password, and ${key} is set; a call can have only one of them`;
      context.addIssue({ code: "custom", path: [address], message });
    }
  };
}

const NO_HEADER_VALUE =
  "cannot be sent in a header: it has a line break, a curly quote or another character beyond Latin-1";

/** A key that is sent in a header. A line break or blanks around it, as in a file, are removed. */
export function headerKey() {
  return z.string().trim().refine(isHeaderValue, { error: NO_HEADER_VALUE });
}

/** The keys that callers send; a message names a key by its position, never by its text. */
function callerKeyList() {
  return list().superRefine((keys, context) => {
    keys.forEach((key, index) => {
      if (!isHeaderValue(key)) context.addIssue(`key ${index + 1} ${NO_HEADER_VALUE}`);
    });
  });
}

/** A JSON object of strings, `{"name": "value"}`. */
export function stringMap() {
  return json(
    z.record(z.string(), z.string()),
    () => 'must be a JSON object of strings, like {"name": "value"}',
  );
}

/** A JSON object of a given form; a message shows `example`. */
export function jsonObject<T>(schema: z.ZodType<T>, { example }: { example: string }) {
  return json(schema, ({ issues: [issue] }) => {
    const where = issue?.path.length ? ` (${issue.path.join(".")}: ${issue.message})` : "";
    return `must be a JSON object like ${example}${where}`;
  });
}

function json<T>(schema: z.ZodType<T>, explain: (error: z.ZodError) => string) {
  return z.string().transform((text, context): T => {
    const result = schema.safeParse(tryParseJson(text));
    if (result.success) return result.data;
    context.addIssue(explain(result.error));
    return z.NEVER;
  }).optional();
}

const SECONDS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600, day: 86_400 };

/** A rate such as `60/min`. */
function rate() {
  return z.string().transform((text, context): Rate => {
    const [, count, unit = ""] = /^(\d{1,9})\/(s|sec|min|h|hour|day)$/.exec(text) ?? [];
    const requests = Number(count);
    if (requests >= 1) return { requests, seconds: SECONDS[unit]! };
    context.addIssue("must be a rate such as 60/min (s, min, h or day)");
    return z.NEVER;
  }).optional();
}

/** The variables of both services. Each spreads them into its own schema. */
export const commonVariables = {
  HOST: host("127.0.0.1"),
  AGENT_PORT: integer(8000, { max: 65_535 }),
  EVAL_PORT: integer(8080, { max: 65_535 }),
  API_KEYS: callerKeyList(),
  CORS_ORIGINS: origins(["http://localhost:*", "http://127.0.0.1:*"]),
  TRUSTED_PROXIES: ipAddresses(),
  RATE_LIMIT: rate(),
  MAX_RUNS: wholeNumber({ min: 1 }).optional(),
  MAX_BODY_BYTES: integer(8_388_608, { min: 1 }),
  MODEL_TIMEOUT_MS: milliseconds(120_000, { min: 1 }),
  MODEL_RETRIES: integer(2, { max: 10 }),
  SHUTDOWN_GRACE_MS: milliseconds(10_000),
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  LOG_FORMAT: z.enum(["text", "json"]).optional(),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z.stringbool().default(false),
};

const CommonConfig = z.object(commonVariables);
export type CommonConfig = z.infer<typeof CommonConfig>;

/** A service that listens on a host and a port. */
export function serviceUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Where both services are on this machine, for examples. A free port is not known beforehand. */
export function serviceUrls(
  { HOST, AGENT_PORT, EVAL_PORT }: CommonConfig,
): { agent: string; eval: string } {
  const host = ["0.0.0.0", "::"].includes(HOST) ? "127.0.0.1" : HOST;
  return { agent: serviceUrl(host, AGENT_PORT || 8000), eval: serviceUrl(host, EVAL_PORT || 8080) };
}

/**
 * Checks a whole environment. An empty value counts as unset, and white space around a value is
 * removed, such as the carriage return of a Windows line. Throws `ConfigError`.
 */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  environment: Record<string, string | undefined>,
): z.output<S> {
  const trimmed = Object.entries(environment).map(([name, value]) => [name, value?.trim()]);
  const result = schema.safeParse(filterFields(Object.fromEntries(trimmed), Boolean));
  if (result.success) return result.data;
  const reasons = [
    ...result.error.issues.map(describeIssue),
    ...explainQuotedVariables(environment),
  ].map((reason) => `  ${reason}`);
  throw new ConfigError(`cannot start: the configuration is not valid\n${reasons.join("\n")}`);
}

/** A key of a map may be a secret in the wrong place, so it is not shown. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const { path, message } = issue.code === "invalid_key"
    ? { path: issue.path.slice(0, -1), message: issue.issues[0]?.message ?? issue.message }
    : issue;
  return `${path.join(".")}: ${message}`;
}

/**
 * The variables of a schema, from the process and from `.env` in the working folder; the process
 * wins. Variables are read by name, because the permission sets name them too.
 */
export async function readEnvironment(
  schema: z.ZodObject,
): Promise<Record<string, string | undefined>> {
  const file = await readDotenv();
  const names = Object.keys(schema.shape);
  return Object.fromEntries(names.map((name) => [name, Deno.env.get(name) ?? file[name]]));
}

async function readDotenv(): Promise<Record<string, string>> {
  try {
    const text = Deno.readTextFileSync(".env");
    if (text.includes("\0")) throw new Error("it is not UTF-8; save it in that encoding");
    const { parse } = await import("@std/dotenv"); // loads half of node's modules
    return parse(text);
  } catch (error) {
    // If started in another folder: the permission is for the `.env` beside the program.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return {};
    const reason = errorMessage(error);
    throw new ConfigError(`cannot start: .env in the working folder cannot be read: ${reason}`);
  }
}

/** The keys of callers. `API_KEYS=none` means that callers need none. */
export function callerKeys(config: CommonConfig): CallerKey[] {
  return parseCallerKeys(config.API_KEYS.filter((key) => key !== "none"));
}

/** Refuses to serve a network by accident. `needed` are further variables that must be set for it. */
export function requireSafeExposure(config: CommonConfig, needed: Record<string, boolean>): void {
  if (isLoopback(config.HOST)) return;
  const all = { API_KEYS: config.API_KEYS.length > 0, ...needed };
  const missing = Object.entries(all).filter(([, isSet]) => !isSet).map(([name]) => name);
  if (missing.length === 0) return;
  throw new ConfigError(
    `cannot start: HOST=${config.HOST} serves the network, so set ${missing.join(" and ")}` +
      (missing.includes("API_KEYS") ? " (API_KEYS=none serves everyone)" : ""),
  );
}

/**
 * Names the variables that have no effect: the key and the model of a service (`JUDGE_API_KEY`,
 * `JUDGE_MODEL`) without its address (`JUDGE_BASE_URL`). That is allowed, as a way to switch the
 * service off, but easily a mistake.
 */
export function explainIdleVariables(
  schema: z.ZodObject,
  config: Readonly<Record<string, unknown>>,
): string[] {
  const unset = Object.keys(schema.shape).filter((name) =>
    name.endsWith("_BASE_URL") && config[name] === undefined
  );
  return unset.flatMap((address) =>
    ["_API_KEY", "_MODEL"].map((ending) => address.replace("_BASE_URL", ending))
      .filter((name) => config[name] !== undefined)
      .map((name) => `${name} has no effect: ${address} is not set`)
  );
}

/** A value that is one text in quotes, as `docker --env-file` and some unit files pass it on. */
const QUOTED = /^(?:"[^"]*"|'[^']*')$/;

/**
 * Names the variables whose values include quotes. A shell, systemd and `.env` remove them; otherwise
 * a key is wrong, and a path names another folder.
 */
export function explainQuotedVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.entries(environment)
    .filter(([, value]) => QUOTED.test(value?.trim() ?? ""))
    .map(([name]) => `${name} has quotes as a part of its value; remove them`);
}
