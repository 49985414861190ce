import type { z } from "zod";
import { findObjects, type FoundObject, MAX_CHARACTERS } from "../../../shared/json_objects.ts";

/** What an answer is read by. */
interface VerdictForm<T> {
  /** The answer without its nonce. */
  schema: z.ZodType<T>;
  /** Made for the question: a text that the judge only quotes cannot have it. */
  nonce: string;
}

/**
 * A verdict, or what is wrong with the answer, in words for the judge. `logged` is the same without
 * what the judge may choose from: labels are part of the test, and belong in no log.
 */
type ReadVerdict<T> = { verdict: T } | { fault: string; logged?: string };

/**
 * Reads the one verdict in a judge's answer. Only complete JSON objects that carry the nonce count;
 * fences and prose around them do not matter. Every one of them must have the right form, and all
 * must say the same: a guess between two verdicts is worse than none.
 */
export function readVerdict<T>(answer: string, { schema, nonce }: VerdictForm<T>): ReadVerdict<T> {
  if (answer.length > MAX_CHARACTERS) {
    return { fault: `it is longer than ${MAX_CHARACTERS} characters` };
  }
  const objects = findObjects(answer);
  const carrying = afterThinking(answer, objects).filter(({ value }) => value.nonce === nonce);
  if (carrying.length === 0) return { fault: describeMissing(answer, objects, nonce) };

  const verdicts = new Map<string, T>();
  for (const { value: { nonce: _, ...fields } } of carrying) {
    const read = schema.safeParse(fields);
    if (!read.success) return describeIssues(read.error);
    verdicts.set(JSON.stringify(read.data), read.data);
  }
  if (verdicts.size > 1) return { fault: "it has several JSON objects that differ" };
  return { verdict: [...verdicts.values()][0]! };
}

const OPENING = /^\s*<think(?:ing)?>/;
const CLOSING = /<\/think(?:ing)?>/g;

/**
 * The objects of an answer without those that the model only thought of. Some servers leave the
 * thoughts in the answer, between tags or with the closing tag alone. A tag inside an object is a
 * part of what the judge says there, such as a quotation.
 */
function afterThinking(answer: string, objects: FoundObject[]): FoundObject[] {
  const closings = [...answer.matchAll(CLOSING)].map(({ index }) => index)
    .filter((index) => !objects.some(({ start, end }) => start < index && index < end));
  if (OPENING.test(answer)) {
    const [end = Infinity] = closings;
    return objects.filter(({ start }) => start > end);
  }
  const last = closings.at(-1);
  const spoken = last === undefined ? objects : objects.filter(({ start }) => start > last);
  // A closing tag behind every object is quoted, not meant.
  return spoken.length > 0 ? spoken : objects;
}

function describeMissing(answer: string, objects: FoundObject[], nonce: string): string {
  if (answer.trim() === "") return "it is empty";
  if (objects.length === 0) return "it has no complete JSON object";
  return `it has no JSON object with "nonce": "${nonce}" at its top level`;
}

function describeIssues({ issues }: z.ZodError) {
  const describe = (textOf: (issue: z.core.$ZodIssue) => string) =>
    issues.map((issue) => `${issue.path.join(".") || "answer"}: ${textOf(issue)}`).join("; ");
  return { fault: describe(({ message }) => message), logged: describe(({ code }) => code) };
}
