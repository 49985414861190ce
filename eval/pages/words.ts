import type { Comparison } from "../figures/compare_stored.ts";
import type { Verdict } from "../figures/comparison.ts";
import type { RunHeadline } from "../figures/run_summary.ts";
import type { RunProgress } from "../run/active_run.ts";
import type { TurnRow } from "../run/turn_view.ts";
import { formatMoney, formatScore } from "../../shared/pages/format.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { roundedBelow } from "../test/rounding.ts";

/** How a badge looks. */
type Tone = "good" | "bad" | "warn" | "accent" | "";

/** The result of a turn, in one word. Only results are green or red. */
export type Result = TurnRow["outcome"] | "contradicts";

export const RESULTS: Record<Result, { label: string; tone: Tone; sign: string }> = {
  passed: { label: "passed", tone: "good", sign: "✓" },
  contradicts: { label: "contradicts", tone: "bad", sign: "✕" },
  below: { label: "not passed", tone: "warn", sign: "✕" },
  failed: { label: "failed", tone: "bad", sign: "!" },
  missing: { label: "not known", tone: "", sign: "?" },
  unscored: { label: "not scored", tone: "", sign: "·" },
};

/** The turns whose result is `contradicts`, as filters. If a judge accepts the reply, it has passed. */
export const CONTRADICTING = { agreement: "contradicts", outcome: "below" };

export function resultOf({ outcome, agreement }: Pick<TurnRow, "outcome" | "agreement">): Result {
  const isContradicting = outcome === CONTRADICTING.outcome &&
    agreement === CONTRADICTING.agreement;
  return isContradicting ? "contradicts" : outcome;
}

/** What a group calls the model of a run, or the model's id. */
export function modelOf(
  { name, model_id }: { name?: string | undefined; model_id: string },
): string {
  return name ?? model_id;
}

/** What was said at a turn, as far as it was asked for. */
export function saidAt({ interaction }: Pick<TurnRow, "interaction">): Partial<InteractionResult> {
  return interaction ?? {};
}

/** How many there are of all kinds together. */
export function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** `$0.0042`; nothing if the cost is not known. */
export function costText(cost: RunHeadline["cost"] | undefined): string | undefined {
  const { amount = null, currency = null } = cost ?? {};
  return amount === null || currency === null ? undefined : formatMoney({ amount, currency });
}

/** The colours of verdicts. */
export const VERDICT_TONES: Record<Verdict, Tone> = {
  improved: "good",
  equal_enough: "",
  regressed: "bad",
  inconclusive: "",
};

/** The score of two runs that is shown first: the one that decides, if it was compared. */
export function decidingScore({ decided_by, pairs }: Comparison): string | undefined {
  const { scores } = pairs![0]!;
  return decided_by in scores ? decided_by : Object.keys(scores)[0];
}

/** Sorts scores: `overall` first, because it decides, and those that compare words last. */
export function overallFirst(names: string[]): string[] {
  const rankOf = (name: string) => name === "overall" ? 0 : isLexical(name) ? 2 : 1;
  return names.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Plain names of scores, and what they mean. */
const SCORES: Record<string, { label: string; means: string; isLexical?: true }> = {
  overall: { label: "overall", means: "What decides: the mean of the parts that apply to a turn." },
  judge: { label: "judge", means: "A model's grade of the reply, from 0 to 1." },
  agreement: { label: "agreement", means: "Whether the reply says what the reference says." },
  semantic_similarity: {
    label: "similarity in meaning",
    means: "How near the reply is to the reference in meaning.",
  },
  checks: { label: "checks", means: "The share of the checks that the reply meets." },
  metadata_match: {
    label: "labels match",
    means: "The share of the expected labels that the reply has.",
  },
  tools: { label: "tool calls", means: "Whether the expected tools were called as expected." },
  tool_f1: { label: "tools called", means: "Which of the expected tools were called." },
  tool_args: { label: "tool arguments", means: "Whether the calls have the expected arguments." },
  tool_order: { label: "tool order", means: "Whether the calls come in the expected order." },
  exact_match: { label: "same text", means: "1 if the texts are the same.", isLexical: true },
  token_f1: {
    label: "words in common",
    means: "Words that reply and reference share (token F1).",
    isLexical: true,
  },
  rouge_l: {
    label: "words in the same order (ROUGE-L)",
    means: "The longest run of words that both have in the same order.",
    isLexical: true,
  },
  chrf: {
    label: "letters in common (chrF)",
    means: "Sequences of letters that both share.",
    isLexical: true,
  },
};

/** A score's name for people: `token_f1` is `words in common`. */
export function scoreLabel(name: string): string {
  return SCORES[name]?.label ?? name.replaceAll("_", " ");
}

/** What a score means; empty if its name says it. */
export function scoreMeaning(name: string): string {
  const key = /^(.+)_match$/.exec(name)?.[1];
  return SCORES[name]?.means ?? (key ? `Whether the reply has the expected ${key}.` : "");
}

/** Scores that compare words or letters and not the meaning. */
export function isLexical(name: string): boolean {
  return SCORES[name]?.isLexical ?? false;
}

/** A turn's score; one below the threshold is not rounded up to it. */
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

/** The `overall` of a run; nothing if none of it is known, as when all calls failed. */
export function overallOf<Statistic>(
  { scores, scenarios }: {
    scores: Record<string, Statistic> | null;
    scenarios: RunHeadline["scenarios"] | null;
  },
): Statistic | undefined {
  const { overall } = scores ?? {};
  if (!overall || !scenarios) return undefined;
  const isKnown = scenarios.passed + scenarios.sometimes + scenarios.failed > 0;
  return isKnown ? overall : undefined;
}

/** Why a run that has ended has no score. */
export function whyNoScore({ done, failed, missing }: RunProgress): string {
  if (done === 0) return "no turn was asked";
  if (failed === done) return "all calls failed";
  return missing > 0 ? "scores are missing" : "nothing was expected";
}

/** A rate as a percentage. */
export function rateText(rate: number): string {
  return `${formatScore(rate * 100, 0)}%`;
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

const ERRORS: Record<string, { label: string; advice: string }> = {
  provider_error: { label: "the endpoint failed", advice: "Look at the log of the endpoint." },
  provider_auth: {
    label: "the endpoint refused the key",
    advice: "Set EVAL_API_KEY, or EVAL_CREDENTIALS for this endpoint.",
  },
  provider_refused: { label: "refused", advice: "Look at the request's parameters and limits." },
  provider_timeout: {
    label: "no answer in time",
    advice: "Raise MODEL_TIMEOUT_MS, or lower EVAL_CONCURRENCY.",
  },
  rate_limited: { label: "rate limited", advice: "Lower EVAL_CONCURRENCY, then retry." },
  model_not_found: { label: "unknown model", advice: "Choose a model that the endpoint lists." },
  empty_reply: { label: "empty reply", advice: "The model answered without text." },
  tool_calls_only: { label: "only tool calls", advice: "The model called tools and said nothing." },
};

/** The code of a failed call in words. */
export function errorLabel(code: string): string {
  return ERRORS[code]?.label ?? code.replaceAll("_", " ");
}

/** What to do about a failed call; empty if that is not known. */
export function adviceOn({ code, detail }: { code: string; detail: string }): string {
  if (code === "provider_error" && !/status \d/.test(detail)) {
    return "Check that the endpoint is running and that its address is right.";
  }
  return ERRORS[code]?.advice ?? "";
}

/** `dataset support, version 3f2a9c01`, from `support@` and the whole hash. */
export function datasetText(dataset: string): string {
  return `dataset ${dataset.replace(/@([\da-f]{8})[\da-f]+$/, ", version $1")}`;
}

/** The detail of a failed call without the endpoint and the model, which the page shows already. */
export function errorText(detail: string): string {
  return detail.replace(/^cannot get a reply from [^:]*?(model ".*?")?: /, "");
}

/** A remark of the service, such as `too few scenarios`, with a capital letter and a full stop. */
export function asSentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
