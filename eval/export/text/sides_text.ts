import type { ComparedSide, ComparedSides, FallenReply } from "./compared_sides.ts";
import { showCost } from "./text_form.ts";
import { describeReply } from "./lowest_text.ts";
import { showMean, showScore, type TextForm } from "./text_form.ts";

/** Both runs in what the scores do not say: who answered, how often, how fast, at what cost. */
export function describeSides({ baseline, candidate }: ComparedSides, form: TextForm): string {
  const sides = [baseline, candidate];
  const row = (title: string, show: (side: ComparedSide) => string | undefined) => {
    const cells = sides.map(show);
    return cells.every((cell) => !cell) ? [] : [[title, ...cells.map((cell) => cell ?? "–")]];
  };
  const counts = (title: string, count: (side: ComparedSide) => number) =>
    sides.some((side) => count(side) > 0) ? row(title, (side) => `${count(side)}`) : [];
  return form.table(["run", "before", "now"], [
    ...row("id", ({ runId }) => form.name(runId)),
    ...row("model", ({ modelId }) => form.name(modelId)),
    ...row("pass rate", ({ pass_rate }) => pass_rate ? showMean(pass_rate) : undefined),
    ...counts("failed calls", ({ outcomes }) => outcomes.failed),
    ...counts("replies cut off", ({ truncated }) => truncated),
    ...row(
      "median latency",
      ({ latency_ms }) => latency_ms ? `${Math.round(latency_ms.p50)} ms` : undefined,
    ),
    ...counts("output tokens", ({ usage }) => usage.output_tokens),
    ...row("cost", ({ cost }) => cost && showCost(cost)),
  ]);
}

/** The replies behind the scenarios that fell most. */
export function describeFallen({ fallen }: ComparedSides, form: TextForm): string {
  if (fallen.length === 0) return "";
  return form.title("Replies that fell most", 2) +
    fallen.map((reply) =>
      form.item(
        describePlace(reply, form),
        describeReply(reply.now, form, reply.before.agent_reply),
      )
    ).join("");
}

function describePlace(
  { scenarioId, turn, attempt, score, before, now }: FallenReply,
  form: TextForm,
): string {
  const place = [
    form.name(scenarioId),
    ...(turn === undefined ? [] : [`turn ${turn}`]),
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
  ];
  const [earlier, later] = [before.scores[score], now.scores[score]].map(showScore);
  return `${place.join(", ")}: ${form.name(score)} ${earlier} before, ${later} now`;
}
