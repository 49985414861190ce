import { type ChatTurn, toTurns } from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { type Line, parseLine, readLines } from "./lines.ts";

/**
 * Lines with `messages` (or `input`) and `ideal`, as OpenAI's evals have them; also the lines of a
 * fine-tuning file, whose last message is the reference.
 */
export const openaiEvals: DatasetFormat = {
  name: "openai-evals",
  about: "OpenAI evals: one object per line, with messages or input, and ideal",
  async *read(pieces, context) {
    for await (const line of readLines(pieces)) {
      const interactions = readSample(line, context)
        .map((turn, index) => ({ id: String(index + 1), ...turn }));
      yield { line: line.number, scenario: { id: `line-${line.number}`, interactions } };
    }
  },
};

function readSample(line: Line, context: ImportContext): ChatTurn[] {
  const sample = parseLine(line);
  if (!isFields(sample)) throw new ImportError(line.number, "it is not an object");
  const { messages, input = messages, ideal, ...rest } = sample;
  for (const field of Object.keys(rest)) context.leaveOut(`the field ${field}`, line.number);
  const turns = typeof input === "string"
    ? [{ user_message: input }]
    : Array.isArray(input)
    ? toTurns(input, { line: line.number, leaveOut: context.leaveOut })
    : [];
  const last = turns.at(-1);
  if (!last) throw new ImportError(line.number, "it has no user message in messages or input");
  const ideals = (Array.isArray(ideal) ? ideal : [ideal ?? undefined])
    .filter((answer) => answer !== undefined);
  const [answer, ...others] = ideals.filter(isText).map(String);
  if (answer !== undefined) {
    if (last.reference_reply !== undefined && last.reference_reply !== answer) {
      context.leaveOut("the last message, because ideal is the reference", line.number);
    }
    last.reference_reply = answer;
  }
  if (others.length > 0) context.leaveOut("further answers in ideal", line.number);
  if (!ideals.every(isText)) context.leaveOut("answers in ideal that are no text", line.number);
  return turns;
}

/** Numbers and truth values are answers, too: `"ideal": 4`. */
function isText(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
