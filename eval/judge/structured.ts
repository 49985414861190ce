import { z } from "zod";
import type { JudgeMessage, JudgeModel } from "./model.ts";
import { findObjects } from "./tolerant_json.ts";

/** The judge answered, and its answer could not be read, not even after it was asked again. */
export class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
}

export interface StructuredQuestion<T> {
  name: string;
  messages: JudgeMessage[];
  /** What the judge is told to answer, and what its answer must be. */
  schema: z.ZodType<T>;
  /** What is taken as well, once asking again did not help: numbers as text, parts left out. */
  lenient: z.ZodType<T>;
  /** Text that is not the judge's: an object that stands in it is not its answer. */
  quoted: string;
  temperature?: number;
}

/**
 * Asks for an answer of a certain shape: strictly; then once more, with what was wrong; then
 * whatever of either answer can be understood without guessing. Throws `UnreadableAnswer`, and what
 * the model throws.
 */
export async function askStructured<T>(
  question: StructuredQuestion<T>,
  { model, signal }: { model: JudgeModel; signal: AbortSignal },
): Promise<T> {
  const { name, messages, schema, temperature } = question;
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema);
  const ask = (messages: JudgeMessage[]) =>
    model.ask({
      name,
      messages,
      schema: jsonSchema,
      ...(temperature !== undefined && { temperature }),
    }, signal);

  const first = await ask(messages);
  const read = schema.safeParse(parseJson(first));
  if (read.success) return read.data;
  const second = await ask([
    ...messages,
    { role: "assistant", content: first },
    { role: "user", content: repairRequest(read.error, jsonSchema) },
  ]);
  const reread = schema.safeParse(parseJson(second));
  if (reread.success) return reread.data;
  return readTolerantly([second, first], question);
}

function repairRequest(error: z.ZodError, schema: unknown): string {
  const faults = error.issues.map(({ path, message }) =>
    `${path.join(".") || "answer"}: ${message}`
  );
  return `That answer could not be read (${faults.join("; ")}). ` +
    `Answer again with nothing but a JSON object of this schema: ${JSON.stringify(schema)}`;
}

function readTolerantly<T>(answers: string[], { lenient, quoted }: StructuredQuestion<T>): T {
  for (const answer of answers) {
    const found = new Map<string, T>();
    for (const { source, value } of findObjects(answer)) {
      const read = lenient.safeParse(value);
      if (read.success && !quoted.includes(source)) found.set(JSON.stringify(read.data), read.data);
    }
    // Two different verdicts in one answer are none.
    if (found.size === 1) return [...found.values()][0]!;
  }
  throw new UnreadableAnswer("the judge's answer could not be read");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
