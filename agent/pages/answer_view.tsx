import { useEffect, useState } from "preact/hooks";
import { Button, IconButton } from "../../shared/pages/components/button.tsx";
import { CopyButton } from "../../shared/pages/components/copy_button.tsx";
import { Markdown } from "../../shared/pages/components/markdown.tsx";
import { Notice, ProblemNotice } from "../../shared/pages/components/states.tsx";
import { ApiProblem } from "../../shared/pages/api_problem.ts";
import { formatCount, formatDuration, formatNumberOf } from "../../shared/pages/format.ts";
import type { HistoryRepairs } from "../core/run/history.ts";
import { decideCall, isAnswering, retryAnswer } from "./answering.ts";
import {
  type Answer,
  type AnswerFacts,
  type AnswerPart,
  answerText,
  type Decision,
  type Turn,
} from "./conversation/conversation.ts";
import { modelName } from "./model_state.ts";
import { ToolCard } from "./tool_card.tsx";

/** The answer of one model: its parts as they come, what it cost, what went wrong. */
export function AnswerView(
  { turn, column, answer, isLast }: {
    turn: Turn;
    column: number;
    answer: Answer;
    isLast: boolean;
  },
) {
  const text = answerText(answer);
  const isStreaming = answer.status === "streaming";
  const isDisabled = isAnswering.value ||
    turn.answers.some(({ status }) => status === "elsewhere");
  const retry = () => {
    retryAnswer(turn, column);
    focusTranscript(); // the button disappears with the answer
  };
  const decide = (id: string, decision: Decision) => {
    decideCall(turn, column, { id, decision });
    focusTranscript();
  };
  return (
    <div
      class="answer"
      role="group"
      aria-label={`Answer of ${modelName(answer.model)}`}
      aria-busy={isStreaming}
    >
      {turn.answers.length > 1 && <h3 class="answer-model">{modelName(answer.model)}</h3>}
      {answer.parts.map((part, index) => (
        <Part
          key={index}
          part={part}
          status={answer.status}
          isLast={isStreaming && index === answer.parts.length - 1}
          onDecide={isLast ? decide : undefined}
        />
      ))}
      {isStreaming && (
        <div class="waiting" role="status">
          <span class="spinner" />
          <span class="visually-hidden">{modelName(answer.model)} is answering</span>
        </div>
      )}
      <Ending answer={answer} isDisabled={isDisabled} onRetry={retry} />
      {!isStreaming && (
        <footer class="answer-foot">
          <div class="actions">
            {text && <CopyButton text={text} label="Copy answer" />}
            {!answer.problem && (
              <IconButton
                isSmall
                icon="retry"
                label="Ask again"
                disabled={isDisabled}
                onClick={retry}
              />
            )}
          </div>
          {answer.facts && <Facts facts={answer.facts} asked={answer.model} />}
        </footer>
      )}
    </div>
  );
}

function Part({ part, status, isLast, onDecide }: {
  part: AnswerPart;
  status: Answer["status"];
  isLast: boolean;
  /** Missing if the conversation has gone on: a call that still waits is not run. */
  onDecide: ((id: string, decision: Decision) => void) | undefined;
}) {
  if (part.type === "text") return <Markdown text={part.text} />;
  if (part.type === "tool") {
    return (
      <ToolCard
        call={part}
        status={status}
        onDecide={onDecide && ((decision) => onDecide(part.id, decision))}
      />
    );
  }
  return (
    <details class="reasoning">
      <summary>{isLast ? "Thinking…" : "Reasoning"}</summary>
      <Markdown text={part.text} />
    </details>
  );
}

/** Sends a question again; counts down until the service accepts it. */
function SendAgain({ at = 0, isDisabled, onRetry }: {
  at?: number | undefined;
  isDisabled: boolean;
  onRetry: () => void;
}) {
  const secondsLeft = () => Math.max(0, Math.ceil((at - Date.now()) / 1_000));
  const [left, setLeft] = useState(secondsLeft);
  const isWaiting = left > 0;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => setLeft(secondsLeft()), 250);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return (
    <Button isSmall icon="retry" disabled={isDisabled || isWaiting} onClick={onRetry}>
      {isWaiting ? `Send again in ${left} s` : "Send again"}
    </Button>
  );
}

const ENDINGS: Partial<Record<Answer["status"], string>> = {
  stopped: "You stopped this answer.",
  cut: "This answer was cut off: the page was closed before it was complete.",
  elsewhere: "This answer is arriving in another tab.",
  failed: "This answer failed.",
};

/** Says what ended an answer that is not complete, where it happened. */
function Ending({ answer, isDisabled, onRetry }: {
  answer: Answer;
  isDisabled: boolean;
  onRetry: () => void;
}) {
  const { status, problem, facts } = answer;
  if (status === "failed" && problem) {
    return (
      <ProblemNotice problem={new ApiProblem(problem.message, problem)}>
        <SendAgain at={problem.retryAt} isDisabled={isDisabled} onRetry={onRetry} />
      </ProblemNotice>
    );
  }
  const text = ENDINGS[status] ??
    (facts?.stopped
      ? `The run ended early: ${facts.stopped}.`
      : status === "done" && answer.parts.length === 0
      ? "This answer has no text."
      : undefined);
  return text ? <Notice>{text}</Notice> : null;
}

/** One line of figures below an answer. */
function Facts({ facts, asked }: { facts: AnswerFacts; asked: string }) {
  const name = modelName(facts.model);
  return (
    <>
      <ul class="facts" aria-label="Facts about this answer">
        <li>{facts.model === asked ? name : `${name} in place of ${modelName(asked)}`}</li>
        <li>{formatNumberOf(facts.modelCalls, "model call")}</li>
        <li>{formatNumberOf(facts.toolCalls, "tool call")}</li>
        <li>{formatCount(facts.inputTokens)} tokens in, {formatCount(facts.outputTokens)} out</li>
        <li>first token {formatDuration(facts.firstTokenMs)}</li>
        <li>total {formatDuration(facts.totalMs)}</li>
      </ul>
      {facts.repairs && <p class="facts-repairs">{describeRepairs(facts.repairs)}</p>}
    </>
  );
}

const REPAIRS: Record<keyof HistoryRepairs, (count: number) => string> = {
  paired: (count) => `a tool call was added for ${formatNumberOf(count, "tool result")}`,
  merged: (count) =>
    `${formatNumberOf(count, "message was", "messages were")} joined with the one before`,
  bridged: (count) =>
    `${
      formatNumberOf(count, "assistant message was", "assistant messages were")
    } added after a tool result`,
  opened: () => "an opening user message was added",
  filled: (count) =>
    `${formatNumberOf(count, "empty tool result was", "empty tool results were")} filled in`,
  dropped: (count) =>
    `${formatNumberOf(count, "blank message was", "blank messages were")} left out`,
  unanswered: (count) =>
    `${formatNumberOf(count, "tool call", "tool calls")} without a result left out`,
  system: () => "the system prompt was put into the first user message",
  cut: (count) => `the oldest ${formatNumberOf(count, "message was", "messages were")} left out`,
};

/** The repairs of a history (`merged=2, cut=1`) as a sentence. */
export function describeRepairs(repairs: string): string {
  const done = repairs.split(", ").map((repair) => {
    const [name = "", count] = repair.split("=");
    return name in REPAIRS ? REPAIRS[name as keyof HistoryRepairs](Number(count)) : repair;
  });
  return `The conversation was repaired for the model: ${done.join("; ")}.`;
}

/** Where the focus goes if its button does. Not the message box: a phone would open its keyboard. */
export function focusTranscript(): void {
  document.querySelector<HTMLElement>(".transcript")?.focus({ preventScroll: true });
}
