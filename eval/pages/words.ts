import type { Verdict } from "../compare/comparison.ts";
import type { Run } from "../api/run_schemas.ts";
import type { TurnRow } from "../run/events/turn_view.ts";
import { formatNumberOf, formatScore } from "../../shared/pages/format.ts";
import { roundedBelow } from "../../shared/rounding.ts";
import type { Statistic } from "../schemas/statistics.ts";

/** How a badge looks. */
export type Tone = "good" | "bad" | "warn" | "accent" | "";

/** A run's status for people. */
export const STATUS_TONES: Record<Run["status"], Tone> = {
  running: "accent",
  completed: "good",
  cancelled: "",
  interrupted: "warn",
  failed: "bad",
};

export const OUTCOMES: Record<TurnRow["outcome"], { label: string; tone: Tone }> = {
  passed: { label: "passed", tone: "good" },
  below: { label: "below", tone: "bad" },
  failed: { label: "call failed", tone: "bad" },
  incomplete: { label: "score missing", tone: "warn" },
  unscored: { label: "not scored", tone: "" },
};

/** What a comparison came to. */
export const VERDICT_TONES: Record<Verdict, Tone> = {
  improved: "good",
  regressed: "bad",
  inconclusive: "",
};

/** `overall` first: it is what a run is judged by. */
export function overallFirst(names: string[]): string[] {
  return names.toSorted((a, b) => Number(b === "overall") - Number(a === "overall"));
}

/** `token_f1` as `token f1`. */
export function scoreLabel(name: string): string {
  return name.replaceAll("_", " ");
}

/** A turn's score; one below the threshold never reads as if it reached it. */
export function overallText(
  { scores: { overall = null }, pass_threshold: limit }: Pick<TurnRow, "scores"> & {
    pass_threshold: number;
  },
): string {
  return formatScore(overall === null ? null : roundedBelow(overall, { limit, digits: 2 }));
}

/** `0.71 to 0.86`; empty if there is none. */
export function intervalText(interval: readonly [number, number] | null | undefined): string {
  if (!interval) return "";
  return `${formatScore(interval[0])} to ${formatScore(interval[1])}`;
}

/** What a mean would be over all turns, if some lack the score; empty if none does. */
export function boundsText({ bounds, missing }: Pick<Statistic, "bounds" | "missing">): string {
  if (!bounds) return "";
  return `${intervalText(bounds)} with ${formatNumberOf(missing, "turn")} that cannot be scored`;
}

/** `+0.12`, `−0.03`, `0.00`. */
export function differenceText(difference: number, digits = 2): string {
  const text = formatScore(Math.abs(difference), digits);
  if (Number(text) === 0) return text;
  return `${difference > 0 ? "+" : "−"}${text}`;
}

/** Where a turn is, as the address and the API have it. */
export function placeOf({ scenario, attempt_id, turn }: {
  scenario: number;
  attempt_id: number;
  turn: number;
}): string {
  return `${scenario}/${attempt_id}/${turn}`;
}

/** A remark of the service, such as `too few scenarios`, with a capital letter and a full stop. */
export function asSentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
