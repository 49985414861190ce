import { z } from "zod";
import type { JudgeMessage, JudgeModel } from "./model.ts";
import { createMark } from "./prompt.ts";
import { readVerdict } from "./read_verdict.ts";

/** The judge answered, and its answer could not be read, not even after it was asked again. */
export class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
}

export interface StructuredQuestion<T> {
  name: string;
  /** The task. How to answer is added to it. */
  instructions: string;
  /** The texts to be judged, quoted. */
  texts: string;
  /** The fields of the answer as the judge sees them, as in `"grade": integer`. */
  form: string;
  /** The fields that the judge is asked for, and what they must be; the nonce is added. */
  schema: z.ZodObject;
  /** What is taken, if that is more than `schema` allows. Never a guess. */
  accepted: z.ZodType<T>;
  temperature?: number;
}

/** Of an answer that has to be repaired the judge is shown this much. */
const MAX_SHOWN = 2000;

/**
 * Asks for one JSON object that carries a nonce made for this question; on anything else, and on an
 * answer that was cut off, asks once more with what was wrong. Throws `UnreadableAnswer`, and what
 * the model throws.
 */
export async function askStructured<T>(
  question: StructuredQuestion<T>,
  { model, signal }: { model: JudgeModel; signal: AbortSignal },
): Promise<T> {
  const { name, instructions, texts, form, accepted, temperature } = question;
  const nonce = createMark();
  const rule = `Answer with one complete JSON object and nothing else: ` +
    `{"nonce": "${nonce}", ${form}}. Copy the nonce as it stands here.`;
  const schema = jsonSchemaOf(question.schema);

  async function ask(messages: JudgeMessage[]) {
    const extras = temperature === undefined ? {} : { temperature };
    const { text, isCut } = await model.ask({ name, messages, schema, ...extras }, signal);
    const read = isCut
      ? { fault: "it was cut off before its end: be brief" }
      : readVerdict(text, { schema: accepted, nonce });
    return { text, read };
  }

  const messages: JudgeMessage[] = [
    { role: "system", content: `${instructions}\n\n${rule}` },
    { role: "user", content: texts },
  ];
  const first = await ask(messages);
  if ("verdict" in first.read) return first.read.verdict;
  const second = await ask([
    ...messages,
    { role: "assistant", content: shorten(first.text) },
    { role: "user", content: `That answer could not be read: ${first.read.fault}. ${rule}` },
  ]);
  if ("verdict" in second.read) return second.read.verdict;
  model.onUnreadable?.(second.read.logged ?? second.read.fault);
  throw new UnreadableAnswer(`the judge's answer could not be read: ${second.read.fault}`);
}

/**
 * The nonce is any string in it: a schema that differs from question to question would have to be
 * compiled anew by the server each time.
 */
function jsonSchemaOf(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(
    z.strictObject({ nonce: z.string(), ...schema.shape }),
  );
  return rest;
}

/** Some servers refuse a message without text. */
function shorten(answer: string): string {
  if (answer.trim() === "") return "(no answer)";
  return answer.length <= MAX_SHOWN ? answer : `${answer.slice(0, MAX_SHOWN)} …`;
}
