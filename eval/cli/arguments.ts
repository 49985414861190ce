import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./command.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Parsed by the type of each option; see `node:util`. */
export type ParsedValues<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>["values"];

/** The name of an argument that may be repeated, or left out. */
const isRepeated = (name: string | undefined) => name?.endsWith("…") ?? false;

/**
 * Parses a command's arguments. `names` are its positional arguments: all of them required, but for
 * a last one with `…`.
 * Throws `UsageError`.
 */
export function parseArguments<O extends Options>(
  args: string[],
  { options, names }: { options: O; names: string[] },
): { values: ParsedValues<O>; positionals: string[] } {
  const { values, positionals } = parse(args, options);
  const missing = names[positionals.length];
  if (missing !== undefined && !isRepeated(missing)) throw new UsageError(`${missing} is missing`);
  const surplus = positionals[names.length];
  if (surplus !== undefined && !isRepeated(names.at(-1))) {
    throw new UsageError(`unexpected argument "${surplus}"`);
  }
  return { values, positionals };
}

function parse<O extends Options>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true as const, allowNegative: true });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message.split(". ")[0]);
    throw error;
  }
}

/** A number between two bounds, from the text of an option. */
export function parseNumber(
  text: string,
  { option, min, max, isWhole = false }: {
    option: string;
    min: number;
    max: number;
    isWhole?: boolean;
  },
): number {
  const value = Number(text);
  const isGood = text.trim() !== "" && value >= min && value <= max &&
    (!isWhole || Number.isInteger(value));
  if (isGood) return value;
  const kind = isWhole ? "a whole number" : "a number";
  const range = Number.isFinite(max) ? `from ${min} to ${max}` : `from ${min}`;
  throw new UsageError(`${option} must be ${kind} ${range}, not "${text}"`);
}
