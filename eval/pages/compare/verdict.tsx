import type { ComponentChildren } from "preact";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import type { ComparedPair, ScoreComparison } from "../../figures/comparison.ts";
import { formatP } from "../../test/rounding.ts";
import { Explained } from "../glossary.tsx";
import { asSentence, comparedText, differenceText, scoreLabel } from "../words.ts";

interface Answer {
  sentence: string;
  /** Why there is no better answer, and how many scenarios would give one. */
  reason?: string | undefined;
  /** A line for each difference that the answer rests on. */
  figures: string[];
}

/** The answer in one sentence, why it is not another one, and the figures behind it on demand. */
export function Verdict({ answer: { sentence, reason, figures }, tone, badge, notice, children }: {
  answer: Answer;
  tone: string;
  badge?: ComponentChildren;
  notice?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class={`verdict ${tone}`}>
      {badge}
      <p class="sentence" dir="auto">{sentence}</p>
      {notice}
      {reason && (
        <p dir="auto">
          <Explained text={reason} />
        </p>
      )}
      {figures.length > 0 && (
        <details>
          <summary>
            <span class="why-link">Why?</span>
          </summary>
          <ul class="bare-list muted">
            {figures.map((text) => (
              <li key={text} dir="auto">
                <Explained text={text} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {children}
    </div>
  );
}

/** Whether the candidate is better than the baseline. */
export function answerOfPair({ decided_by, min_difference = 0, pairs }: Comparison): Answer {
  const [pair] = pairs as [ComparedPair];
  const score = pair.scores[decided_by];
  const reason = pair.reason ? asSentence(pair.reason) : undefined;
  if (!score) return { sentence: "These runs cannot be compared.", reason, figures: [] };
  const by = `${scoreLabel(decided_by)} ${comparedText(score, 3)}`;
  const figures = [figuresOf(score)];
  switch (pair.verdict) {
    case "inconclusive": {
      const sentence = `It is not known whether the candidate is better: ${by}.`;
      return { sentence, reason, figures };
    }
    case "equal_enough":
      return {
        sentence: `The candidate is equal enough: ${by}.`,
        reason: `It is not worse by ${min_difference}, the smallest difference that matters.`,
        figures,
      };
    default: {
      const word = pair.verdict === "improved" ? "better" : "worse";
      return { sentence: `The candidate is ${word}: ${by}.`, figures };
    }
  }
}

/** Which model is better, or that none clearly is; of how many models, on how many scenarios. */
export function answerOfGroup({ best, runs, pairs: all, decided_by }: Comparison): Answer {
  const [winner, ...others] = best!;
  const pairs = all ?? [];
  const figures = pairs.slice(0, MOST_PAIRS).map((pair) => {
    const isTurned = pair.better === pair.baseline;
    const { baseline, candidate } = pair;
    const [first, second] = isTurned ? [baseline, candidate] : [candidate, baseline];
    return `${first} against ${second}: ${figuresOf(pair.scores[decided_by], isTurned)}`;
  });
  if (winner === undefined) return { sentence: "No run has been completed.", figures };
  if (runs.length === 1) return { sentence: `${winner} is the only model.`, figures };
  const scenarios = Math.max(0, ...pairs.map((pair) => pair.scores[decided_by]?.scenarios ?? 0));
  const on = scenarios > 0 ? ` on ${formatNumberOf(scenarios, "scenario")}` : "";
  const isPair = runs.length === 2;
  if (others.length === 0) {
    const worse = runs.find(({ name }) => name !== winner)!.name;
    const rest = isPair ? worse : `the ${runs.length - 1} other models`;
    return { sentence: `${winner} is better than ${rest}${on}.`, figures };
  }
  const sizeOf = ({ scores }: ComparedPair) => Math.abs(scores[decided_by]?.difference ?? 0);
  const [furthest] = pairs.filter(({ baseline, candidate }) =>
    best!.includes(baseline) && best!.includes(candidate)
  ).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const between = furthest && !isPair ? `${furthest.candidate} against ${furthest.baseline}: ` : "";
  const none = isPair ? "Neither model" : `None of the ${runs.length} models`;
  return {
    sentence: best!.length === runs.length
      ? `${none} is clearly better${on}.`
      : `The best of the ${runs.length} models${on} is one of these: ${best!.join(", ")}.`,
    reason: furthest?.reason
      ? between + (between ? `${furthest.reason}.` : asSentence(furthest.reason))
      : undefined,
    figures,
  };
}

/** The most pairs below a verdict; the table of pairs has all. */
const MOST_PAIRS = 6;

/** The difference of two runs with its interval and p; `isTurned`: the baseline minus the candidate. */
function figuresOf(score: ScoreComparison | undefined, isTurned = false): string {
  if (!score) return "they cannot be compared";
  const { ci95, p = 1, scenarios, difference } = score;
  const by = isTurned && difference !== null
    ? differenceText(-difference, 3)
    : comparedText(score, 3);
  const ends = ci95 && (isTurned ? [-ci95[1], -ci95[0]] : ci95);
  const interval = ends
    ? `, 95% interval ${ends.map((end) => differenceText(end, 3)).join(" to ")}`
    : "";
  return `${by}${interval} (p ${formatP(p)}), over ${formatNumberOf(scenarios, "scenario")}`;
}
