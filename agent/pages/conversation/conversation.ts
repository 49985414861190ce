/** What is sent with every question of a conversation. */
export interface Settings {
  /** The service's own if it is empty. */
  systemPrompt: string;
  /** The provider's own if it is missing. */
  temperature?: number;
  maxTokens?: number;
  /** False: the model alone answers, without the agent. */
  usesTools: boolean;
  /** True: each tool call waits until the person approves or refuses it. */
  asksBeforeTools: boolean;
}

export const DEFAULT_SETTINGS: Settings = {
  systemPrompt: "",
  usesTools: true,
  asksBeforeTools: false,
};

/** A part of an answer, in the order in which the parts came. */
export type AnswerPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | ToolPart;

/** A call of a tool. */
export interface ToolPart {
  type: "tool";
  id: string;
  name: string;
  args: Record<string, unknown> | string;
  /** Missing while the tool runs, and if it does not. */
  result?: { content: string; status: "ok" | "error"; ms: number };
  /** Of a call that is asked for before it runs. Those of one `round` were asked for together. */
  approval?: { state: "waiting" | "approved" | "refused"; round: number };
}

export type Decision = "approved" | "refused";

/** What an answer cost. Times are in milliseconds. */
export interface AnswerFacts {
  model: string;
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  firstTokenMs: number;
  totalMs: number;
  /** What ended the run early, if anything did. */
  stopped?: string;
  /** `paired=1, merged=2`, as the service says it. */
  repairs?: string;
}

/** Why an answer failed. */
export interface AnswerProblem {
  message: string;
  code: string;
  status: number;
  requestId?: string;
  /** When the service takes it again; milliseconds since 1970. */
  retryAt?: number;
}

/**
 * The answer of one model. `cut`: the page was closed before it was complete. `elsewhere`: another
 * tab receives it.
 */
export interface Answer {
  model: string;
  status: "streaming" | "elsewhere" | "done" | "stopped" | "cut" | "failed";
  parts: AnswerPart[];
  facts?: AnswerFacts;
  problem?: AnswerProblem;
}

/** An image or a file as a `data:` address. */
export interface Attachment {
  name: string;
  url: string;
}

/** A message of the person and what was answered, by one model or by two side by side. */
export interface Turn {
  id: string;
  /** The turn before it; `null` for the first. Turns with the same parent are branches. */
  parent: string | null;
  text: string;
  /** Images and files that are sent with the text. */
  attachments?: Attachment[];
  answers: Answer[];
  /** Of two answers side by side: the one that the person finds better. */
  better?: number;
  /** When it was sent, and when it changed last; milliseconds since 1970. */
  sentAt: number;
  changedAt: number;
}

/** A conversation with all its branches. */
export interface Conversation {
  id: string;
  /** Given by the person; if it is missing, the first message is shown instead. */
  title?: string;
  createdAt: number;
  changedAt: number;
  /** One, or two that answer side by side. */
  models: string[];
  settings: Settings;
  turns: Record<string, Turn>;
  /** The branch that is shown: the id of a turn by the id of its parent, or by `""`. */
  shown: Record<string, string>;
}

export function createConversation(
  { models, settings, now = Date.now() }: { models: string[]; settings: Settings; now?: number },
): Conversation {
  return {
    id: createId(),
    createdAt: now,
    changedAt: now,
    models,
    settings,
    turns: {},
    shown: {},
  };
}

/**
 * A new id of 32 hexadecimal digits. `crypto.randomUUID` exists only on pages that came by HTTPS or
 * from this machine.
 */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The title, or the beginning of the first message. */
export function titleOf(conversation: Conversation): string {
  if (conversation.title) return conversation.title;
  const [first] = shownTurns(conversation);
  const line = first?.text.trim().split("\n")[0] ?? "";
  const characters = [...line];
  if (characters.length === 0) return "New conversation";
  return characters.length > 60 ? `${characters.slice(0, 59).join("")}…` : line;
}

/** The turns of the branch that is shown, first to last. */
export function shownTurns({ turns, shown }: Conversation): Turn[] {
  const found: Turn[] = [];
  let parent = "";
  for (;;) {
    const turn = turns[shown[parent] ?? ""];
    if (!turn || found.includes(turn)) return found;
    found.push(turn);
    parent = turn.id;
  }
}

/** The branches that begin where this turn does, itself included, oldest first. */
export function branchesOf({ turns }: Conversation, { parent }: Turn): Turn[] {
  return Object.values(turns)
    .filter((turn) => turn.parent === parent)
    .toSorted((a, b) => a.sentAt - b.sentAt);
}

/** Adds a turn and shows it. */
export function withTurn(conversation: Conversation, turn: Turn): Conversation {
  return withShown(withChanged(conversation, turn), turn);
}

function withChanged(conversation: Conversation, turn: Turn): Conversation {
  const turns = { ...conversation.turns, [turn.id]: turn };
  return { ...conversation, changedAt: turn.changedAt, turns };
}

/** Shows another branch. */
export function withShown(conversation: Conversation, turn: Turn): Conversation {
  return { ...conversation, shown: { ...conversation.shown, [turn.parent ?? ""]: turn.id } };
}

/** Changes one answer of a turn. */
export function withAnswer(
  conversation: Conversation,
  { turnId, column, answer, now = Date.now() }: {
    turnId: string;
    column: number;
    answer: Answer;
    now?: number;
  },
): Conversation {
  const turn = conversation.turns[turnId];
  if (!turn) return conversation;
  const answers = turn.answers.with(column, answer);
  return withChanged(conversation, { ...turn, answers, changedAt: now });
}

/** Keeps which of two answers is better; `undefined` if that is taken back. */
export function withBetter(
  conversation: Conversation,
  { turnId, better }: { turnId: string; better: number | undefined },
): Conversation {
  const { better: _, ...turn } = conversation.turns[turnId]!;
  const chosen = { ...turn, ...(better !== undefined && { better }) };
  return withChanged(conversation, { ...chosen, changedAt: Date.now() });
}

/**
 * The text of an answer, without reasoning and tool calls. Texts before and after a call are two
 * messages: their words are not joined.
 */
export function answerText({ parts }: Answer): string {
  let text = "";
  let needsBreak = false;
  for (const part of parts) {
    if (part.type === "tool") needsBreak = text !== "";
    if (part.type !== "text") continue;
    text += needsBreak ? `\n\n${part.text}` : part.text;
    needsBreak = false;
  }
  return text.trim();
}

/** The answer that one model has seen: its own, or the only one that there is. */
export function answerIn({ answers }: Turn, column: number): Answer | undefined {
  return answers[column] ?? answers[0];
}

/** Answers that are not complete: a page that was closed cannot continue them, another tab can. */
export function withCutAnswers(
  conversation: Conversation,
  { isElsewhere = false, open = ["streaming", "elsewhere"] }: {
    isElsewhere?: boolean;
    /** The answers that are meant. */
    open?: Answer["status"][];
  } = {},
): Conversation {
  const status = isElsewhere ? "elsewhere" : "cut";
  const isOpen = (answer: Answer) => open.includes(answer.status);
  const turns = Object.values(conversation.turns).map((turn): Turn =>
    turn.answers.some(isOpen)
      ? {
        ...turn,
        answers: turn.answers.map((answer) => isOpen(answer) ? { ...answer, status } : answer),
      }
      : turn
  );
  return { ...conversation, turns: Object.fromEntries(turns.map((turn) => [turn.id, turn])) };
}

/** The turns of both; the newer one of a turn that both have. Another tab may have added some. */
export function mergeConversations(stored: Conversation, mine: Conversation): Conversation {
  const turns = { ...stored.turns };
  for (const turn of Object.values(mine.turns)) {
    const other = turns[turn.id];
    if (!other || other.changedAt <= turn.changedAt) turns[turn.id] = turn;
  }
  return { ...stored, ...mine, turns, shown: { ...stored.shown, ...mine.shown } };
}

/** The calls of an answer that waited for the person, by round. */
export function approvalRounds({ parts }: Answer): ToolPart[][] {
  const asked = parts.filter((part): part is ToolPart => part.type === "tool" && !!part.approval);
  return Object.values(Object.groupBy(asked, ({ approval }) => approval!.round)) as ToolPart[][];
}

export function isWaiting(part: AnswerPart): boolean {
  return part.type === "tool" && part.approval?.state === "waiting";
}
