import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Notice, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { ComparedPair, ScoreComparison } from "../../figures/comparison.ts";
import type { ComparedRun, Comparison } from "../../figures/compare_stored.ts";
import type { Preference } from "../../figures/judge_preference.ts";
import { askJudge } from "../api.ts";
import { DifferenceChart, reachOf } from "../charts/difference.tsx";
import { Scatter } from "../charts/scatter.tsx";
import { LiveLink, Section } from "../parts/section.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { notComparedLines } from "../../report/tables.ts";
import { Words } from "../parts/report_table.tsx";
import { ScoreTable } from "../parts/score_table.tsx";
import { readPages } from "../parts/paging.tsx";
import { useSending } from "../sending.ts";
import { source } from "../source.ts";
import {
  asSentence,
  decidingScore,
  differenceText,
  modelOf,
  scoreLabel,
  sumOf,
  VERDICT_TONES,
} from "../words.ts";
import { ChangedTurns } from "./changed_turns.tsx";
import { answerOfPair, Verdict } from "./verdict.tsx";

/** The most names in one list. */
const MOST_NAMES = 100;

/** Two runs: the verdict first, then what it rests on. */
export function Compared({ comparison, judge }: {
  comparison: Comparison;
  /** Asks the judge, which a report cannot. */
  judge?: ComponentChildren;
}) {
  const [baseline, candidate] = comparison.runs as [ComparedRun, ComparedRun];
  const pair = comparison.pairs![0]!;
  const { verdict, scores } = pair;
  const chosen = useSignal<string | undefined>(undefined);
  const isChosen = chosen.value !== undefined && Object.hasOwn(scores, chosen.value);
  // Another pair of runs may lack the score that was chosen.
  const score = isChosen ? chosen.value : decidingScore(comparison);
  const ids = { baseline: baseline.run_id, candidate: candidate.run_id };
  return (
    <>
      <Verdict
        comparison={comparison}
        answer={answerOfPair(comparison)}
        tone={VERDICT_TONES[verdict]}
        badge={<span class={`badge ${VERDICT_TONES[verdict]}`}>{verdict.replace("_", " ")}</span>}
        notice={<Differences pair={pair} />}
      >
        <div class="sides">
          <Side label="Baseline" run={baseline} />
          <Side label="Candidate" run={candidate} />
        </div>
      </Verdict>
      {score !== undefined && (
        <>
          <div class="columns compared">
            <Section
              title="Scores"
              hint="Candidate minus baseline. Choose one to see its scenarios."
            >
              <ComparedScores
                scores={scores}
                chosen={score}
                onChoose={(name) => chosen.value = name}
              />
            </Section>
            <Section
              title={`Scenarios by ${scoreLabel(score)}`}
              hint="Above the line the candidate is better"
            >
              <Scenarios ids={ids} score={score} />
            </Section>
          </div>
          <ChangedTurns ids={ids} score={score} />
        </>
      )}
      {judge}
      <OnlyInOne pair={pair} />
    </>
  );
}

function Side({ label, run }: { label: string; run: ComparedRun }) {
  const name = `${run.test_name || "(no name)"} · ${modelOf(run)}`;
  return (
    <div>
      <span class="muted small">{label}</span>{" "}
      <LiveLink href={`/ui/runs/${run.run_id}`}>{name}</LiveLink>
      {run.dataset && source.isLive && <DatasetLink dataset={run.dataset} />}
      {run.status !== "completed" && <span class="badge warn">{run.status}</span>}
    </div>
  );
}

/** The dataset of a run, which it records as `name@version`. */
function DatasetLink({ dataset }: { dataset: string }) {
  const [name, version] = dataset.split("@");
  return (
    <span class="small">
      of <Link href={`/ui/dataset/${name}?version=${version}`}>{name}</Link>,{" "}
      <Explained text={`version ${version?.slice(0, 8)}`} />
    </span>
  );
}

/** Warnings about the verdict, such as different test sets. */
function Differences({ pair }: { pair: ComparedPair }) {
  const { only_in_baseline, only_in_candidate, changed, scores, notes } = pair;
  const left = only_in_baseline.scenarios.length + only_in_candidate.scenarios.length;
  const shared = Math.max(0, ...Object.values(scores).map(({ scenarios }) => scenarios));
  const names = changed.slice(0, MOST_NAMES).join(", ");
  const remarks = [
    left > 0 &&
    `The test sets differ: the runs are compared on the ${
      formatNumberOf(shared, "scenario")
    } that they share, and ${formatCount(left)} are left out.`,
    changed.length > 0 && (
      <details>
        <summary>
          {`${formatNumberOf(changed.length, "scenario")} changed between the runs`}
        </summary>
        <span dir="auto">{changed.length > MOST_NAMES ? `${names}…` : names}</span>
      </details>
    ),
    ...notes.map(({ detail }) => asSentence(detail.replace(" (left_out)", ""))),
  ].filter(Boolean);
  if (remarks.length === 0) return null;
  return (
    <Notice kind="warn" role="note">
      {remarks.map((remark, index) => <div key={index}>{remark}</div>)}
    </Notice>
  );
}

function Scenarios({ ids, score }: {
  ids: { baseline: string; candidate: string };
  score: string;
}) {
  const read = (cursor: string | undefined) =>
    source.pairedScenarios({ ...ids, score, limit: 1_000, cursor });
  // All pages: a scatter of some scenarios would mislead.
  const loaded = useLoaded(() => readPages("scenarios", read), [ids, score]);
  return (
    <Shown loaded={loaded} what="the scenarios">
      {({ rows }) => <Scatter scenarios={rows} />}
    </Shown>
  );
}

/** Every score of two runs: both means, and the difference with its interval. */
function ComparedScores({ scores, chosen, onChoose }: {
  scores: Record<string, ScoreComparison>;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const of = (name: string) => scores[name]!;
  const reach = reachOf(
    Object.values(scores).flatMap(({ ci95, difference }) => [difference, ...ci95 ?? []]),
  );
  return (
    <ScoreTable
      names={Object.keys(scores)}
      chosen={chosen}
      onChoose={onChoose}
      columns={[
        { label: "Baseline", isNumber: true, cell: (name) => formatScore(of(name).baseline) },
        { label: "Candidate", isNumber: true, cell: (name) => formatScore(of(name).candidate) },
        {
          label: "Difference",
          isNumber: true,
          cell: (name) => differenceText(of(name).difference),
        },
        {
          label: "95% interval",
          means: meaningOf("95% interval"),
          isWide: true,
          cell: (name) => (
            <DifferenceChart mean={of(name).difference} ci95={of(name).ci95} reach={reach} />
          ),
        },
      ]}
    />
  );
}

/** What was not compared, because one run lacks it or computed it otherwise. */
function OnlyInOne({ pair }: { pair: ComparedPair }) {
  const lines = notComparedLines(pair, MOST_NAMES);
  if (lines.length === 0) return null;
  return (
    <Section title="Not compared">
      <ul class="bare-list small">
        {lines.map((line, index) => (
          <li key={index}>
            <Words line={line} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Which replies the judge prefers. It is asked on request, because that costs. */
export function JudgeVerdict({ ids }: { ids: { baseline: string; candidate: string } }) {
  const found = useSignal<Preference | undefined>(undefined);
  const { problem, isSending, send } = useSending();
  const ask = () => send(async () => void (found.value = await askJudge(ids)));
  return (
    <Section
      title="The judge's preference"
      hint="Of the first attempts, turn by turn. The judge is asked twice for each, in both orders."
      actions={!found.value && (
        <Button isSmall disabled={isSending.value} onClick={ask}>
          {isSending.value ? "Asking the judge…" : "Ask the judge"}
        </Button>
      )}
    >
      {problem.value && <ProblemNotice problem={problem.value} />}
      {found.value && <Found preference={found.value} />}
    </Section>
  );
}

function Found({ preference }: { preference: Preference }) {
  const { verdict, reason, candidate_better, baseline_better, ties, contradictory } = preference;
  const missing = sumOf(preference.missing);
  return (
    <p>
      <span class={`badge ${VERDICT_TONES[verdict]}`}>{verdict}</span> The candidate is preferred in
      {" "}
      {formatNumberOf(candidate_better, "turn")}, the baseline in {formatCount(baseline_better)};
      {" "}
      {formatNumberOf(ties, "tie")}, {formatCount(contradictory)} that change with the order,{" "}
      {formatCount(missing)} not judged.
      {reason && <span class="muted">{` ${asSentence(reason)}`}</span>}
    </p>
  );
}
