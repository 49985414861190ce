import type { RE2JS } from "re2js";
import type { z } from "zod";
import { type Fields, isFields } from "../../shared/fields.ts";

let engine: typeof RE2JS | undefined;

/** Loads the engine of patterns, which takes as long as half of the service's start. */
export async function loadPatterns(): Promise<void> {
  engine ??= (await import("re2js")).RE2JS;
}

/** Patterns of one schema that are checked; the server checks all of them. */
const MAX_PATTERNS = 100;

/** A pattern, and where the texts are that it holds for; `*` is every item of a list. */
interface PlacedPattern {
  path: string[];
  pattern: RE2JS;
  source: string;
}

/**
 * Adds the patterns of a JSON Schema to a schema that has none. They are Unicode patterns, as JSON
 * Schema wants them: `\p{L}` is a letter, a dot is a whole character. They run in linear time,
 * whatever the server sends. A pattern in another form (lookarounds) is left to the server, and so are
 * all of them before `loadPatterns`.
 */
export function withPatterns(schema: z.ZodType, inputSchema: Fields): z.ZodType {
  const placed: PlacedPattern[] = [];
  collect(inputSchema, { path: [], placed });
  if (placed.length === 0) return schema;
  return schema.superRefine((args, context) => {
    for (const { path, pattern, source } of placed) {
      for (const { text, at } of textsAt(args, path)) {
        if (pattern.matcher(text).find()) continue;
        context.addIssue({ code: "custom", path: at, message: `must match the pattern ${source}` });
      }
    }
  });
}

/** Only where a value must fit the pattern: not below `anyOf`, `not` or a condition. */
function collect(
  schema: unknown,
  { path, placed }: { path: string[]; placed: PlacedPattern[] },
): void {
  if (!isFields(schema) || placed.length >= MAX_PATTERNS) return;
  const pattern = typeof schema.pattern === "string" ? compile(schema.pattern) : undefined;
  if (pattern) placed.push({ path, pattern, source: String(schema.pattern) });
  if (isFields(schema.items)) collect(schema.items, { path: [...path, "*"], placed });
  if (!isFields(schema.properties)) return;
  for (const [name, inner] of Object.entries(schema.properties)) {
    collect(inner, { path: [...path, name], placed });
  }
}

function compile(source: string): RE2JS | undefined {
  try {
    return engine?.compile(engine.translateRegExp(source)); // such as \u00e9
  } catch {
    return undefined;
  }
}

function textsAt(
  value: unknown,
  [next, ...rest]: string[],
  at: PropertyKey[] = [],
): { text: string; at: PropertyKey[] }[] {
  if (next === undefined) return typeof value === "string" ? [{ text: value, at }] : [];
  if (next === "*" && Array.isArray(value)) {
    return value.flatMap((item, index) => textsAt(item, rest, [...at, index]));
  }
  return isFields(value) && Object.hasOwn(value, next)
    ? textsAt(value[next], rest, [...at, next])
    : [];
}
