import { answerOf } from "./chat_messages.ts";
import { type ImportContext, QUESTIONS } from "./format.ts";
import { ANSWER_NAMES } from "../sample_names.ts";

/** Keys that hold the answer, the likeliest first. */
const ANSWERS = [...ANSWER_NAMES, "content", "text"];

export type SideContext = Pick<ImportContext, "leaveOut"> & { line: number; side: string };

/** The question among the values of one side of an example; the others are left out. */
export const chooseQuestion = (values: Record<string, unknown>, context: SideContext) =>
  choose(values, QUESTIONS, context);

/** The answer among them. */
export const chooseAnswer = (values: Record<string, unknown>, context: SideContext) =>
  choose(values, ANSWERS, context);

function choose(
  values: Record<string, unknown>,
  preferred: string[],
  { line, leaveOut, side }: SideContext,
): string | undefined {
  const texts = Object.entries(values).flatMap(([name, value]) => {
    const text = textOf(value);
    return text === undefined ? [] : [{ name, text, isWritten: typeof value === "string" }];
  });
  const chosen = preferred.flatMap((name) => texts.find((found) => found.name === name) ?? [])[0] ??
    texts.find(({ isWritten }) => isWritten) ?? texts[0];
  const key = chosen?.name;
  for (const other of Object.keys(values)) {
    if (other !== key && values[other] !== values[key ?? ""]) {
      leaveOut(`${other} of ${side}`, line);
    }
  }
  return chosen?.text;
}

/** Numbers, truth values and single messages are answers, too. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "object") return answerOf(value);
  return value === undefined ? undefined : String(value);
}
