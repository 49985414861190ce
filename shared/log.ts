import { describeBriefly, type DescribeError, describeWhole } from "./describe_error.ts";
import type { Fields } from "./fields.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "text" | "json";

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Limit of one value, in characters: names of tests and models and paths come from callers. */
const LONGEST_VALUE = 1_000;
/** Limit of an error, which has its whole stack at `debug`. */
const LONGEST_ERROR = 8_000;
/** Limit of one line: log collectors cut or drop longer ones. */
const LONGEST_LINE = 16_000;

interface LoggerOptions {
  level: LogLevel;
  format: LogFormat;
  /** Takes one finished line, without its line end. */
  write: (line: string, level: LogLevel) => void;
  /** Applied to every line before it is written; see `createRedactor`. */
  redact?: (line: string) => string;
}

/**
 * One line per event; a field named `error` may be an `Error`, which is logged whole only at `debug`.
 * Long values are cut. A line that is still too long keeps only its message.
 */
export function createLogger(options: LoggerOptions): Logger {
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

/** Quoted if a blank, a quote or a control character could make one line look like two. */
function renderValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[^\s"\p{C}]+$/u.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, escape);
}

/**
 * What JSON leaves as it is, but a terminal obeys (U+009B begins a command, as ESC does) or shows as
 * another line or another order of the text.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function describeErrors(fields: Fields, describe: DescribeError): Fields {
  const { error } = fields;
  return error instanceof Error ? { ...fields, error: describe(error) } : fields;
}
