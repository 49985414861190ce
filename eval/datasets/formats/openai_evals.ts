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
  const [answer, ...others] = (Array.isArray(ideal) ? ideal : [ideal])
    .filter((text) => typeof text === "string");
  if (answer !== undefined) last.reference_reply = answer;
  if (others.length > 0) context.leaveOut("further answers in ideal", line.number);
  return turns;
}
