import type { HistoryRepairs } from "../run/history.ts";
import { formatNumberOf } from "../../shared/pages/format.ts";

const WORDS: Record<keyof HistoryRepairs, (count: number) => string> = {
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
    return name in WORDS ? WORDS[name as keyof HistoryRepairs](Number(count)) : repair;
  });
  return `The conversation was repaired for the model: ${done.join("; ")}.`;
}
