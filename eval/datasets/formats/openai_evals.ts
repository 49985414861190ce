import {
  answerOf,
  asPrompt,
  type Chat,
  chooseAnswer,
  chooseQuestion,
  type SideContext,
  takeSystemPrompt,
  toChat,
  toScenario,
  withSystemPrompt,
} from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError, isOurs } from "./format.ts";
import { type Fields, isFields } from "../../../shared/fields.ts";
import {
  ANSWER_NAMES,
  createSampleIds,
  EXPECTED_NAMES,
  findName,
  QUESTION_NAMES,
} from "../sample_names.ts";
import { readRecords } from "./lines.ts";

/** Fields that hold the question or the conversation. The first that a sample has counts. */
const CONVERSATIONS = ["input", "messages", "conversations"];
const QUESTIONS = [...CONVERSATIONS, ...QUESTION_NAMES];

/**
 * Samples with `messages` (or `input`) and `ideal`, as OpenAI's evals have them, and similar ones of
 * other tools; also the lines of a fine-tuning file, whose last message is the
 * reference.
 */
export const openaiEvals: DatasetFormat = {
  name: "openai-evals",
  about: "OpenAI evals: messages or input, and ideal",
  recognises: ({ first }) => first !== undefined && !isOurs(first) && isSample(first),
  async *read(pieces, context) {
    const nameSample = createSampleIds();
    for await (const { line, name, value } of readRecords(pieces)) {
      if (!isFields(value)) throw new ImportError(line, "it is not an object");
      const sample = outOfItem(value, { line, context });
      const chat = readSample(sample, { ...context, line });
      yield { line, scenario: toScenario(nameSample(sample.id, name), chat) };
    }
  },
};

/** Whether a value is such a sample, by its fields. */
function isSample(value: Fields): boolean {
  const has = (wanted: string[]) => findName(Object.keys(value), wanted) !== undefined;
  return isFields(value.item) || isInstruction(value) || has(CONVERSATIONS) ||
    (has(QUESTION_NAMES) && has(ANSWER_NAMES));
}

type SampleContext = Pick<ImportContext, "leaveOut"> & { line: number };

function readSample(value: Fields, context: SampleContext): Chat {
  const { line } = context;
  const { systemPrompt, others: sample } = takeSystemPrompt(
    isInstruction(value) ? fromInstruction(value) : value,
  );
  const question = findName(Object.keys(sample), QUESTIONS);
  const filled = Object.keys(sample).filter((name) => (sample[name] ?? null) !== null);
  const chat = withSystemPrompt(
    systemPrompt,
    readQuestion(question && sample[question], context),
  );
  const last = chat.turns.at(-1);
  const isAnswered = last?.reference_reply !== undefined;
  const reference = findName(filled, isAnswered ? EXPECTED_NAMES : ANSWER_NAMES);
  const used = new Set([question, reference, "ideal", "id"]);
  for (const field of Object.keys(sample)) {
    if (!used.has(field)) context.leaveOut(`the field ${field}`, line);
  }
  if (!last) {
    const known = [...new Set(QUESTIONS)].join(", ");
    throw new ImportError(line, `it has no user message; that may be in ${known}`);
  }
  if (reference === undefined) return chat;
  const answers = [sample[reference]].flat();
  const texts = answers.map((one) => toText(one, { ...context, side: reference }));
  const [answer, ...others] = texts.filter((text) => text !== undefined);
  if (answer !== undefined) {
    if (last.reference_reply !== undefined && last.reference_reply !== answer) {
      context.leaveOut(`the last message, because ${reference} is the reference`, line);
    }
    last.reference_reply = answer;
    if (others.length > 0) last.reference_replies = others;
  }
  if (texts.includes(undefined)) {
    context.leaveOut(`answers in ${reference} that are no text`, line);
  }
  return answer === undefined ? chat : asPrompt(chat);
}

function readQuestion(asked: unknown, context: SampleContext): Chat {
  // Preferences for fine-tuning have the messages inside.
  const messages = isFields(asked) ? asked.messages : asked;
  if (Array.isArray(messages)) return toChat(messages, context);
  const text = isFields(asked) ? chooseQuestion(asked, { ...context, side: "input" }) : asked;
  return { turns: typeof text === "string" ? [{ user_message: text }] : [] };
}

/** Data of OpenAI's evals API, which has the fields of a sample in `item`. */
function outOfItem(
  record: Fields,
  { line, context }: { line: number; context: ImportContext },
): Fields {
  const { item, ...rest } = record;
  if (!isFields(item)) return record;
  for (const field of Object.keys(rest)) context.leaveOut(`the field ${field}`, line);
  return item;
}

/** Alpaca's form: what to do, what to do it with, which may be empty, and what comes out. */
function isInstruction({ instruction, output }: Fields): boolean {
  return typeof instruction === "string" && typeof output === "string";
}

function fromInstruction({ instruction, input, output, ...rest }: Fields): Fields {
  const question = [instruction, input].filter((text) => typeof text === "string" && text !== "");
  return { ...rest, input: question.join("\n\n"), ideal: output };
}

/** Numbers and truth values are answers, too: `"ideal": 4`; and so are messages, and one of fields. */
function toText(value: unknown, context: SideContext): string | undefined {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  if (!isFields(value)) return undefined;
  return "content" in value || "value" in value ? answerOf(value) : chooseAnswer(value, context);
}
