import type { ComponentChildren } from "preact";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import type { ComparedPair } from "../../figures/comparison.ts";
import { formatP } from "../../test/rounding.ts";
import { DifferenceChart, reachOf } from "../charts/difference.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { LiveLink } from "../parts/section.tsx";
import { asSentence, differenceText, scoreLabel } from "../words.ts";

interface Answer {
  sentence: string;
  /** Why there is no better answer, and how many scenarios would give one. */
  reason?: string | null | undefined;
}

/** The answer in one sentence, why it is not another one, and the figures behind it on demand. */
export function Verdict(
  { comparison, answer: { sentence, reason }, tone, badge, notice, children }: {
    comparison: Comparison;
    answer: Answer;
    tone: string;
    badge?: ComponentChildren;
    notice?: ComponentChildren;
    children?: ComponentChildren;
  },
) {
  const { pairs, decided_by } = comparison;
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
      {pairs?.some(({ scores }) => scores[decided_by]) && (
        <details>
          <summary>
            <span class="why-link">Why?</span>
          </summary>
          <p class="muted small">
            <Explained
              text={`By ${scoreLabel(decided_by)}, second minus first${
                pairs.length > 1 ? ", corrected for all pairs" : ""
              }`}
            />
          </p>
          <Pairs comparison={comparison} />
        </details>
      )}
      {children}
    </div>
  );
}

/** Whether the candidate is better than the baseline. */
export function answerOfPair({ decided_by, min_difference = 0, pairs }: Comparison): Answer {
  const [{ scores, verdict, reason: why }] = pairs as [ComparedPair];
  const score = scores[decided_by];
  const reason = why && asSentence(why);
  if (!score) return { sentence: "These runs cannot be compared.", reason };
  const by = `${scoreLabel(decided_by)} ${differenceText(score.difference, 3)}`;
  switch (verdict) {
    case "inconclusive":
      return { sentence: `It is not known whether the candidate is better: ${by}.`, reason };
    case "equal_enough":
      return {
        sentence: `The candidate is equal enough: ${by}.`,
        reason: `It is not worse by ${min_difference}, the smallest difference that matters.`,
      };
    default:
      return {
        sentence: `The candidate is ${verdict === "improved" ? "better" : "worse"}: ${by}.`,
      };
  }
}

/** Which model is better, or that none clearly is; of how many models, on how many scenarios. */
export function answerOfGroup({ best, runs, pairs: all, decided_by }: Comparison): Answer {
  const [winner, ...others] = best!;
  if (winner === undefined) return { sentence: "No run has been completed." };
  if (runs.length === 1) return { sentence: `${winner} is the only model.` };
  const pairs = all ?? [];
  const scenarios = Math.max(0, ...pairs.map(({ scores }) => scores[decided_by]?.scenarios ?? 0));
  const on = scenarios > 0 ? ` on ${formatNumberOf(scenarios, "scenario")}` : "";
  const isPair = runs.length === 2;
  if (others.length === 0) {
    const worse = runs.find(({ name }) => name !== winner)!.name;
    const rest = isPair ? worse : `the ${runs.length - 1} other models`;
    return { sentence: `${winner} is better than ${rest}${on}.` };
  }
  const sizeOf = ({ scores }: ComparedPair) => Math.abs(scores[decided_by]?.difference ?? 0);
  const [furthest] = pairs.filter(({ baseline, candidate }) =>
    best!.includes(baseline) && best!.includes(candidate)
  ).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const { reason: why, candidate, baseline } = furthest ?? {};
  const none = isPair ? "Neither model" : `None of the ${runs.length} models`;
  return {
    sentence: best!.length === runs.length
      ? `${none} is clearly better${on}.`
      : `The best of the ${runs.length} models${on} is one of these: ${best!.join(", ")}.`,
    reason: why && (isPair ? asSentence(why) : `${candidate} against ${baseline}: ${why}.`),
  };
}

/** Every model against every other one, by the score that decides. */
function Pairs({ comparison: { pairs, runs, decided_by } }: { comparison: Comparison }) {
  const rows = (pairs ?? []).filter(({ scores }) => scores[decided_by]);
  const of = ({ scores }: ComparedPair) => scores[decided_by]!;
  const runOf = (name: string) => runs.find((model) => model.name === name)?.run_id;
  const reach = reachOf(
    rows.map(of).flatMap(({ ci95, difference }) => [difference, ...ci95 ?? []]),
  );
  return (
    <DataTable
      label="Pairs"
      isFlat
      class="models"
      rows={rows}
      keyOf={({ baseline, candidate }) => JSON.stringify([baseline, candidate])}
      columns={[
        {
          label: "Pair",
          cell: ({ baseline, candidate }) => (
            <LiveLink
              href={`/ui/compare?baseline=${runOf(baseline)}&candidate=${runOf(candidate)}`}
            >
              <span dir="auto">{baseline}</span> → <span dir="auto">{candidate}</span>
            </LiveLink>
          ),
        },
        {
          label: "Difference",
          isNumber: true,
          cell: (row) => (
            <>
              {differenceText(of(row).difference, 3)}
              <div class="muted small">
                {of(row).ci95?.map((end) => differenceText(end, 3)).join(" to ")}
              </div>
            </>
          ),
        },
        {
          label: "p",
          means: meaningOf("p"),
          isNumber: true,
          cell: (row) => formatP(of(row).p ?? 1),
        },
        {
          label: "95% interval",
          means: meaningOf("95% interval"),
          isWide: true,
          cell: (row) => (
            <DifferenceChart mean={of(row).difference} ci95={of(row).ci95} reach={reach} />
          ),
        },
        {
          label: "Scenarios",
          isNumber: true,
          isMinor: true,
          cell: (row) => formatCount(of(row).scenarios),
        },
        {
          label: "Verdict",
          isMinor: true, // the headline says it
          cell: ({ better, verdict }) => (
            <span class={better ? "badge good" : "badge"} dir="auto">
              {better ? `${better} is better` : verdict.replace("_", " ")}
            </span>
          ),
        },
      ]}
    />
  );
}
