import { computed, effect } from "@preact/signals";
import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { createAnswerBuilder, type ReplyRequest, streamReply } from "./answer_stream.ts";
import { contentOf } from "./attachments.tsx";
import {
  type Answer,
  answerIn,
  type AnswerProblem,
  answerText,
  approvalRounds,
  type Attachment,
  type Conversation,
  createConversation,
  createId,
  type Decision,
  isWaiting,
  shownTurns,
  type Turn,
  withAnswer,
  withTurn,
} from "./conversation/conversation.ts";
import {
  activeModels,
  addConversation,
  current,
  readConversation,
  saveConversation,
  settings,
  updateConversation,
} from "./conversation/conversation_state.ts";
import { announceAnswer } from "./conversation/other_tabs.ts";

/** What stops the answers that are under way, each with the id of its conversation. */
const running = new Map<AbortController, string>();

/** True while the shown conversation is being answered. */
export const isAnswering = computed(() =>
  Object.values(current.value?.turns ?? {}).some(({ answers }) =>
    answers.some(({ status }) => status === "streaming")
  )
);

/** True while another tab receives an answer: what is sent now would carry half of it. */
export const isAnsweredElsewhere = computed(() =>
  (current.value ? shownTurns(current.value) : []).some(({ answers }) =>
    answers.some(({ status }) => status === "elsewhere")
  )
);

/** Sends a message after the last turn that is shown. */
export function sendMessage(text: string, attachments: Attachment[] = []): void {
  const before = current.value;
  const conversation = before ??
    createConversation({ models: activeModels.value, settings: settings.value });
  const parent = shownTurns(conversation).at(-1)?.id ?? null;
  const answers = conversation.models.map(emptyAnswer);
  const turn = createTurn({ parent, attachments }, { text, answers });
  if (before) updateConversation(before.id, (now) => withTurn(now, turn));
  else addConversation(withTurn(conversation, turn));
  answerTurn(conversation.id, turn);
}

/** Sends another text in place of an earlier message, as a new branch. */
export function editMessage(turn: Turn, text: string): void {
  addBranch(createTurn(turn, { text, answers: current.value!.models.map(emptyAnswer) }));
}

/** Asks again, as a new branch: one model if two answered, with the other's answer as it is. */
export function retryAnswer(turn: Turn, column: number): void {
  const models = current.value!.models;
  const answers = turn.answers.map((answer, index) =>
    index === column ? emptyAnswer(models[column] ?? answer.model) : answer
  );
  addBranch(createTurn(turn, { text: turn.text, answers }));
}

function addBranch(turn: Turn): void {
  const { id } = current.value!;
  updateConversation(id, (now) => withTurn(now, turn));
  answerTurn(id, turn);
}

/** Decides a waiting call. Once no call of the answer waits, the answer continues. */
export function decideCall(turn: Turn, column: number, call: { id: string; decision: Decision }) {
  const { id } = current.value!;
  const before = turn.answers[column]!;
  const parts = before.parts.map((part) =>
    part.type === "tool" && part.id === call.id && part.approval
      ? { ...part, approval: { ...part.approval, state: call.decision } }
      : part
  );
  const isDecided = !parts.some(isWaiting);
  const answer: Answer = { ...before, parts, ...(isDecided && { status: "streaming" }) };
  updateConversation(id, (now) => withAnswer(now, { turnId: turn.id, column, answer }));
  const decided = { ...turn, answers: turn.answers.with(column, answer) };
  if (isDecided) startColumn({ conversationId: id, turn: decided, column });
}

/** Ends all answers of the shown conversation; what has come stays. */
export function stopAnswering(): void {
  for (const [controller, id] of running) {
    if (id === current.value?.id) controller.abort();
  }
}

/** A new turn. The branches at one place share its parent and what is attached. */
function createTurn(
  { parent, attachments = [] }: Pick<Turn, "parent" | "attachments">,
  { text, answers }: Pick<Turn, "text" | "answers">,
): Turn {
  const now = Date.now();
  return {
    id: createId(),
    parent,
    text,
    answers,
    ...(attachments.length > 0 && { attachments }),
    sentAt: now,
    changedAt: now,
  };
}

function emptyAnswer(model: string): Answer {
  return { model, status: "streaming", parts: [] };
}

function answerTurn(conversationId: string, turn: Turn): void {
  for (const [column, { status }] of turn.answers.entries()) {
    if (status === "streaming") startColumn({ conversationId, turn, column });
  }
}

/** One answer of a turn. */
interface Column {
  conversationId: string;
  turn: Turn;
  column: number;
}

function startColumn(place: Column): void {
  const { conversationId } = place;
  const answer = answerColumn(place).then(() => saveConversation(conversationId));
  announceAnswer(conversationId, answer);
}

/** How often the page shows new text: more often costs time and is not visible. */
const SHOW_EVERY_MS = 40;
/** Longer than closing a page takes. */
const LEAVING_MS = 1000;

async function answerColumn({ conversationId, turn, column }: Column): Promise<void> {
  const controller = new AbortController();
  running.set(controller, conversationId);
  const builder = createAnswerBuilder(turn.answers[column]!);
  const show = (answer: Answer) =>
    updateConversation(
      conversationId,
      (now) => withAnswer(now, { turnId: turn.id, column, answer }),
    );
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLeft = false;
  // Firefox ends requests before it closes a page; if the person stays, the page lives on.
  const leave = () => {
    isLeft = true;
    setTimeout(() => isLeft = false, LEAVING_MS);
  };
  globalThis.addEventListener("beforeunload", leave);
  // The conversation may be deleted, in this tab or in another.
  const unfollow = effect(() => readConversation(conversationId) ? undefined : controller.abort());
  try {
    const request = toRequest(readConversation(conversationId)!, { turn, column });
    for await (const chunk of streamReply({ ...request, signal: controller.signal })) {
      builder.add(chunk);
      timer ??= setTimeout(() => {
        timer = undefined;
        show(builder.answer());
      }, SHOW_EVERY_MS);
    }
    show(builder.end("done"));
  } catch (error) {
    if (controller.signal.aborted) show(builder.end("stopped"));
    else if (isLeft) show({ ...builder.answer(), status: "cut" });
    else show({ ...builder.answer(), status: "failed", problem: toAnswerProblem(error) });
  } finally {
    globalThis.removeEventListener("beforeunload", leave);
    unfollow();
    clearTimeout(timer);
    running.delete(controller);
  }
}

/** The conversation up to a turn as one model has seen it. Answers without text are left out. */
function toRequest(
  conversation: Conversation,
  { turn, column }: { turn: Turn; column: number },
): Omit<ReplyRequest, "signal"> {
  const turns = shownTurns(conversation);
  const earlier = turns.slice(0, turns.findIndex(({ id }) => id === turn.id));
  const messages = earlier.flatMap((before) => {
    const answer = answerIn(before, column);
    const reply = answer ? answerText(answer) : "";
    return [
      { role: "user" as const, content: contentOf(before) },
      ...(reply ? [{ role: "assistant" as const, content: reply }] : []),
    ];
  });
  const answer = turn.answers[column]!;
  return {
    model: answer.model,
    messages: [...messages, { role: "user", content: contentOf(turn) }, ...toApprovals(answer)],
    settings: conversation.settings,
  };
}

/** The calls that the person was asked about. What one of them returned is sent once it is known. */
function toApprovals(answer: Answer): ReplyRequest["messages"] {
  return approvalRounds(answer).flatMap((calls) => [
    {
      role: "assistant" as const,
      content: "",
      tool_calls: calls.map(({ id, name, args }) => ({
        type: "function",
        id,
        function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
      })),
    },
    ...calls.map(({ id, approval, result }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: result?.content ?? approval!.state,
    })),
  ]);
}

function toAnswerProblem(error: unknown): AnswerProblem {
  if (!(error instanceof ApiProblem)) {
    return { message: "the page failed while it read the answer", code: "page", status: 0 };
  }
  const { message, code, status, requestId, retryAfter } = error;
  return {
    message,
    code,
    status,
    ...(requestId && { requestId }),
    ...(retryAfter && { retryAt: Date.now() + retryAfter * 1_000 }),
  };
}
