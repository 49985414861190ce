import { asFields, asList, asText, type Fields } from "../../../shared/service/fields.ts";
import {
  type Answer,
  type AnswerPart,
  answerText,
  type Conversation,
  createId,
  DEFAULT_SETTINGS,
  type Settings,
  shownTurns,
  titleOf,
  type Turn,
} from "./conversation.ts";

const FORMAT = "assay-conversations";

/** Conversations with all their branches, for `parseConversations`. */
export function toJsonFile(conversations: Conversation[]): string {
  return JSON.stringify({ format: FORMAT, version: 1, conversations }, null, 2);
}

/** The branch that is shown, for people. */
export function toMarkdownFile(conversation: Conversation): string {
  const turns = shownTurns(conversation).map((turn) => {
    const answers = turn.answers.map((answer) => `**${answer.model}:**\n\n${answerText(answer)}\n`);
    return `**You:**\n\n${turn.text}\n\n${answers.join("\n")}`;
  });
  return [`# ${titleOf(conversation)}\n`, ...turns].join("\n");
}

/** A file that cannot be imported; the message says why. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/**
 * Reads a file of `toJsonFile`. Each conversation gets a new id, so that none is overwritten; what
 * the page does not know is left out. Throws a `FileProblem`.
 */
export function parseConversations(text: string): Conversation[] {
  const file = asFields(parseJson(text));
  if (file.format !== FORMAT || !Array.isArray(file.conversations)) {
    throw new FileProblem("This file was not exported from this page.");
  }
  return file.conversations.map((item, index) => {
    const conversation = parseConversation(asFields(item));
    if (shownTurns(conversation).length > 0) return conversation;
    throw new FileProblem(`Conversation ${index + 1} of the file has no messages.`);
  });
}

function parseConversation(fields: Fields): Conversation {
  const turns = Object.values(asFields(fields.turns)).map((turn) => parseTurn(asFields(turn)));
  const shown = Object.entries(asFields(fields.shown)).filter((entry): entry is [string, string] =>
    typeof entry[1] === "string"
  );
  return {
    id: createId(),
    ...(typeof fields.title === "string" && { title: fields.title }),
    createdAt: asNumber(fields.createdAt) ?? Date.now(),
    changedAt: asNumber(fields.changedAt) ?? Date.now(),
    models: asList(fields.models).filter((model) => typeof model === "string").slice(0, 2),
    settings: parseSettings(asFields(fields.settings)),
    turns: Object.fromEntries(turns.map((turn) => [turn.id, turn])),
    shown: Object.fromEntries(shown),
  };
}

function parseSettings(fields: Fields): Settings {
  const temperature = asNumber(fields.temperature);
  const maxTokens = asNumber(fields.maxTokens);
  return {
    ...DEFAULT_SETTINGS,
    systemPrompt: asString(fields.systemPrompt),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    usesTools: fields.usesTools !== false,
    asksBeforeTools: fields.asksBeforeTools === true,
  };
}

function parseTurn(fields: Fields): Turn {
  const attachments = asList(fields.attachments).map(asFields)
    .map(({ name, url }) => ({ name: asString(name), url: asString(url) }))
    .filter(({ url }) => /^data:(image\/(png|jpeg|gif|webp)|application\/pdf);base64,/.test(url));
  return {
    id: asString(fields.id),
    parent: typeof fields.parent === "string" ? fields.parent : null,
    text: asString(fields.text),
    ...(attachments.length > 0 && { attachments }),
    ...(typeof fields.better === "number" && { better: fields.better }),
    answers: asList(fields.answers).map((answer) => parseAnswer(asFields(answer))),
    sentAt: asNumber(fields.sentAt) ?? 0,
    changedAt: asNumber(fields.changedAt) ?? 0,
  };
}

const STATUSES = ["done", "stopped", "cut", "failed"] as const;

/** Facts and problems are about another service's runs: they are left out. */
function parseAnswer(fields: Fields): Answer {
  return {
    model: asString(fields.model),
    status: STATUSES.find((status) => status === fields.status) ?? "cut",
    parts: asList(fields.parts).flatMap((part) => parsePart(asFields(part))),
  };
}

const APPROVALS = ["waiting", "approved", "refused"] as const;

function parsePart({ type, ...fields }: Fields): AnswerPart[] {
  if (type === "text" || type === "reasoning") return [{ type, text: asString(fields.text) }];
  if (type !== "tool") return [];
  const result = fields.result === undefined ? undefined : asFields(fields.result);
  const { args } = fields;
  const { state, round } = asFields(fields.approval);
  const approval = APPROVALS.find((known) => known === state);
  return [{
    type,
    id: asString(fields.id),
    name: asString(fields.name),
    args: typeof args === "string" ? args : asFields(args),
    ...(result && {
      result: {
        content: asString(result.content),
        status: result.status === "error" ? "error" : "ok",
        ms: asNumber(result.ms) ?? 0,
      },
    }),
    ...(approval && { approval: { state: approval, round: asNumber(round) ?? 0 } }),
  }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FileProblem("This file is not JSON.");
  }
}

function asString(value: unknown): string {
  return asText(value) ?? "";
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
