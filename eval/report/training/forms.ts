import { type ObservedToolCall } from "../../test/tools.ts";
import type { Said } from "./training_turns.ts";
import type { TrainingKind, TrainingRow } from "./training_rows.ts";

/** A form of files for training, one JSON object per line. */
export interface TrainingForm {
  readonly name: string;
  readonly kind: TrainingKind;
  /** What a line holds, as the documents say it. */
  readonly about: string;
  toLine(row: TrainingRow): unknown;
}

/** TRL's conversational forms; its columns have to be the same in every line. */
const trl: TrainingForm[] = [
  {
    name: "sft",
    kind: "sft",
    about: "TRL: `messages`",
    toLine: ({ prompt, chosen, ...row }) => ({
      messages: [...prompt, chosen!].map(toTrl),
      ...withTools(row),
      origin: row.origin,
    }),
  },
  {
    name: "dpo",
    kind: "dpo",
    about: "TRL: `prompt`, `chosen`, `rejected`",
    toLine: ({ prompt, chosen, rejected, ...row }) => ({
      prompt: prompt.map(toTrl),
      chosen: [toTrl(chosen!)],
      rejected: [toTrl(rejected!)],
      ...withTools(row),
      origin: row.origin,
    }),
  },
  {
    name: "kto",
    kind: "kto",
    about: "TRL: `prompt`, `completion`, `label`",
    toLine: ({ prompt, chosen, rejected, ...row }) => ({
      prompt: prompt.map(toTrl),
      completion: [toTrl((chosen ?? rejected)!)],
      label: chosen !== undefined,
      ...withTools(row),
      origin: row.origin,
    }),
  },
];

/** OpenAI's forms for fine-tuning, which refuse fields of others. */
const openai: TrainingForm[] = [
  {
    name: "sft-openai",
    kind: "sft",
    about: "OpenAI fine-tuning: `messages`",
    toLine: ({ prompt, chosen, ...row }) => ({
      messages: [...prompt, chosen!].map(toOpenAI),
      ...withTools(row),
    }),
  },
  {
    name: "dpo-openai",
    kind: "dpo",
    about: "OpenAI fine-tuning: `input`, `preferred_output`, `non_preferred_output`",
    toLine: ({ prompt, chosen, rejected, ...row }) => ({
      input: { messages: prompt.map(toOpenAI), ...withTools(row) },
      preferred_output: [toOpenAI(chosen!)],
      non_preferred_output: [toOpenAI(rejected!)],
    }),
  },
];

export const trainingForms: readonly TrainingForm[] = [...trl, ...openai];

/** Whether a row of a form is a choice between two replies. */
export function isPaired(name: string): boolean {
  return trainingForms.some((form) => form.name === name && form.kind === "dpo");
}

function withTools({ tools }: Pick<TrainingRow, "tools">) {
  return tools.length > 0 ? { tools } : {};
}

/** The arguments as an object, as chat templates read them. */
function toTrl({ role, content, calls }: Said) {
  return {
    role,
    content,
    ...calls && { tool_calls: calls.map(({ name, args }) => toCall(name, args)) },
  };
}

/** The arguments as text, and an id for each call. */
function toOpenAI({ role, content, calls }: Said) {
  if (!calls) return { role, content };
  const tool_calls = calls.map(({ name, args }, index) => ({
    id: `call_${index + 1}`,
    ...toCall(name, typeof args === "string" ? args : JSON.stringify(args)),
  }));
  return { role, ...content !== "" && { content }, tool_calls };
}

function toCall(name: string, args: ObservedToolCall["args"]) {
  return { type: "function", function: { name, arguments: args } };
}
