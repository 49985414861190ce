import type { Fields } from "./fields.ts";
import { AppError } from "./errors.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "text" | "json";

export type Logger = Record<
  Exclude<LogLevel, "silent">,
  (message: string, fields?: Fields) => void
>;

/** Limit of one value, in characters: names of tests and models and paths come from callers. */
const LONGEST_VALUE = 1_000;
/** Limit of an error, which has its whole stack at `debug`. */
const LONGEST_ERROR = 8_000;
/** Limit of one line: log collectors cut or drop longer ones. */
const LONGEST_LINE = 16_000;

/**
 * One line per event; a field named `error` may be an `Error`, which is logged whole only at `debug`.
 * Long values are cut. A line that is still too long keeps only its message.
 */
export function createLogger(options: {
  level: LogLevel;
  format: LogFormat;
  /** Takes one finished line, without its line end. */
  write: (line: string, level: LogLevel) => void;
  /** Applied to every line before it is written; see `createRedactor`. */
  redact?: (line: string) => string;
}): Logger {
  const { level, format, write, redact = (line) => line } = options;
  const threshold = LOG_LEVELS.indexOf(level);
  const render = format === "json" ? renderJson : renderText;
  const describe = level === "debug" ? describeWhole : describeBriefly;
  const at = (name: LogLevel) => {
    if (LOG_LEVELS.indexOf(name) < threshold) return () => {};
    return (message: string, fields: Fields = {}) => {
      const cut = (text: string, most: number) =>
        text.length <= most ? text : shorten(redact(text), most); // a cut secret is not recognised
      const short = shortenFields(describeErrors(fields, describe), cut);
      const line = render(name, cut(message, LONGEST_VALUE), short);
      if (line.length <= LONGEST_LINE) return write(redact(line), name);
      const cutLine = render(name, cut(message, LONGEST_VALUE), { cut_from: line.length });
      write(redact(cutLine), name);
    };
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Writes nothing. */
export const silentLogger: Logger = createLogger({
  level: "silent",
  format: "json",
  write: () => {},
});

function shortenFields(fields: Fields, cut: (text: string, most: number) => string): Fields {
  const short: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    const most = name === "error" ? LONGEST_ERROR : LONGEST_VALUE;
    short[name] = typeof value === "string" ? cut(value, most) : value;
  }
  return short;
}

/** With the number of characters that are missing. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… (${text.length - most} more)`;
}

function renderJson(level: LogLevel, message: string, fields: Fields): string {
  const time = new Date().toISOString();
  return JSON.stringify({ time, level, message, ...fields });
}

function renderText(level: LogLevel, message: string, fields: Fields): string {
  const time = new Date().toISOString().slice(11, 19);
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${renderValue(value)}`)
    .join("");
  return `${time} ${level.toUpperCase().padEnd(5)} ${message}${rest}`;
}

/** Quoted if white space, a quote or a control character could make one value look like several. */
function renderValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[^\s"\p{C}]+$/u.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, escape);
}

/**
 * Characters that JSON does not escape, but that a terminal executes (U+009B begins a command, as ESC
 * does) or shows as a line break or in another order.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function describeErrors(fields: Fields, describe: (error: Error) => string): Fields {
  const { error } = fields;
  return error instanceof Error ? { ...fields, error: describe(error) } : fields;
}

/** Causes may form a circle. */
const MOST_CAUSES = 5;

/**
 * The name and place of an error, `TypeError at graph.ts:57:12`, and of its causes. Not its message,
 * which may contain user data, nor its stack, which contains paths of the machine. The message of an
 * `AppError` is safe to show; its cause is left out, because it may contain a provider's raw text.
 */
function describeBriefly(error: Error): string {
  return chainOf(error).map(briefly).join(", caused by ");
}

/** With message, stack and causes, for debugging. */
function describeWhole(error: Error): string {
  return chainOf(error).map(whole).join("\ncaused by ");
}

/** An error and its causes, but not an `AppError`'s. */
function chainOf(error: Error): Error[] {
  const chain = [error];
  for (let last = error; chain.length < MOST_CAUSES; chain.push(last)) {
    if (last instanceof AppError || !(last.cause instanceof Error)) break;
    last = last.cause;
  }
  return chain;
}

function briefly(error: Error): string {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  const what = [nameOf(error), codeOf(error)].filter(Boolean).join(" ");
  const place = placeOf(error);
  return place ? `${what} at ${place}` : what;
}

function whole(error: Error): string {
  if (error instanceof AppError) return `${error.name}: ${error.message}`;
  return error.stack ?? `${error.name}: ${error.message}`;
}

/** The name of the error's class; anything else in that field may be user data. */
function nameOf({ name }: Error): string {
  return /^[\w.]{1,64}$/.test(name) ? name : "Error";
}

/** The code of a system or database error: `ENOSPC`. */
function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[A-Z][A-Z\d_]{1,63}$/.test(code) ? code : "";
}

/** The first place in our own code, else the first of all; a file's name, line and column. */
function placeOf({ stack = "", message }: Error): string | undefined {
  const at = stack.indexOf(message); // which may have lines that look like frames
  const frames = stack.slice(at < 0 ? 0 : at + message.length).split("\n").filter((line) =>
    /^\s+at .*:\d+:\d+\)?$/.test(line)
  );
  const own = frames.find((frame) =>
    frame.includes("file:") && !/\/npm\/|node_modules/.test(frame)
  );
  return /([^\s/\\(]+:\d+:\d+)\)?$/.exec(own ?? frames[0] ?? "")?.[1];
}

/** In milliseconds. */
const JOIN_MS = 10;

/**
 * Joins lines that follow each other closely into one write. A write wakes the reader of the log:
 * one per line would take a tenth of a busy agent's processor time. A process that is killed loses
 * the lines of its last `JOIN_MS`; on any other end `flush` must be called.
 *
 * Lines that `print` throws on are lost, not the process: the log may be a file on a full disk.
 * `onLost` is called with their number once lines can be written again.
 */
export function createLineWriter(
  print: (text: string) => void,
  onLost: (lines: number) => void = () => {},
) {
  let waiting: string[] = [];
  let isJoining = false;
  let lost = 0;

  /** Writes the lines that wait. */
  function flush(): void {
    if (waiting.length === 0) return;
    const lines = waiting;
    waiting = [];
    // A part of the last line may have been written.
    const text = (lost > 0 ? "\n" : "") + lines.join("\n");
    try {
      print(text);
    } catch {
      lost += lines.length;
      return;
    }
    if (lost === 0) return;
    const count = lost;
    lost = 0;
    onLost(count);
  }

  /** Until no line has come for a whole `JOIN_MS`. */
  function join(): void {
    isJoining = true;
    const timer = setTimeout(() => {
      isJoining = waiting.length > 0;
      flush();
      if (isJoining) join();
    }, JOIN_MS);
    Deno.unrefTimer(timer);
  }

  return {
    /**
     * At once, or within `JOIN_MS` if lines follow each other faster than that. Warnings and errors
     * never wait: the process may end.
     */
    write(line: string, level: LogLevel): void {
      waiting.push(line);
      if (!isJoining || level === "warn" || level === "error") flush();
      if (!isJoining) join();
    },
    flush,
  };
}

/** How the names of secret variables end. */
const SECRET_NAME = /(_KEY|_KEYS|_CREDENTIALS|_SECRET|_TOKEN|_PASSWORD)$/;

/** Parameters of an address whose values are secret. */
const SECRET_PARAMETER = /key|token|secret|password|credential|auth|signature|^sig$|^code$/i;

/** Shorter values would match by chance in most lines, and protect nothing. */
const SHORTEST_SECRET = 6;

/**
 * The scheme is a bounded look-behind: otherwise a long text such as `a.a.a` would be searched again
 * from each letter.
 */
const ADDRESS =
  /:\/\/(?<=\b[a-z][a-z+.-]{0,30}:\/\/)(?:[^\s"'/?#@]*@)?([^\s"'?#\\)]*)(?:[?#][^\s"'\\)]*)?/gi;

/** True for a variable whose value must never be shown. */
export function isSecretVariable(name: string): boolean {
  return SECRET_NAME.test(name);
}

/**
 * Every secret of a configuration: of `name:key` also the key alone, of a map its values, and those
 * in addresses.
 */
export function listSecrets(config: Record<string, unknown>): string[] {
  const keys = Object.entries(config)
    .filter(([name]) => isSecretVariable(name))
    .flatMap(([, value]) => listStrings(value))
    .flatMap((text) => [text, text.slice(text.indexOf(":") + 1)]);
  return [...keys, ...Object.values(config).flatMap(secretsInAddress)];
}

/** The password of an address and its secret parameters; nothing of other values. */
export function secretsInAddress(value: unknown): string[] {
  if (typeof value !== "string" || !URL.canParse(value)) return [];
  const { password, search } = new URL(value);
  const parameters = listParameters(search).filter(({ name }) => SECRET_PARAMETER.test(name));
  return [...readings(password), ...parameters.flatMap((parameter) => readings(parameter.value))];
}

/** The query of an address, its parameters, and their values. */
export function partsOfQuery(address: string): string[] {
  const { search } = new URL(address);
  const parameters = listParameters(search);
  return [search.slice(1), ...parameters.flatMap(({ text, value }) => [text, ...readings(value)])];
}

/** As they are written. A text without a name is all value. */
function listParameters(search: string): { text: string; name: string; value: string }[] {
  return search.slice(1).split("&").map((text) => {
    const end = text.indexOf("=");
    return { text, name: text.slice(0, Math.max(0, end)), value: text.slice(end + 1) };
  });
}

/** A part of an address as it is written there, and as it is meant. */
function readings(written: string): string[] {
  // Lenient, as servers are: `decodeURIComponent` throws for a lone `%`.
  const read = (text: string) =>
    new URLSearchParams(`part=${text.replaceAll("&", "%26")}`).get("part")!;
  return [written, read(written), read(written.replaceAll("+", "%2B"))];
}

/**
 * A function that removes secrets from a line before it is written. The code does not log them; this
 * is for errors of libraries and servers. URLs lose user-info, query and fragment.
 */
export function createRedactor(secrets: string[]): (line: string) => string {
  const forms = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (line) => line.replace(ADDRESS, "://$1");
  // One pass, because "[secret]" may itself contain a secret.
  const anySecret = new RegExp(longestFirst.map(RegExp.escape).join("|"), "g");
  return (line) => line.replace(ADDRESS, "://$1").replace(anySecret, "[secret]");
}

function listStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(listStrings);
}
