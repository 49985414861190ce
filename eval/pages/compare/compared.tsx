import { useSignal } from "@preact/signals";
import { Icon } from "../../../shared/pages/components/icon.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import type { ComparedRun, StoredComparison } from "../../compare/compare_stored.ts";
import type { PairedScenarioRow } from "../../compare/pair_lists.ts";
import { Scatter } from "../charts/scatter.tsx";
import { LiveLink, Section } from "../frame.tsx";
import { Explained } from "../glossary.tsx";
import { useLoaded } from "../loaded.ts";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";
import { asSentence, modelOf, scoreLabel, VERDICT_TONES } from "../words.ts";
import { ChangedTurns } from "./changed_turns.tsx";
import { ComparedScores } from "./compared_scores.tsx";
import { decidingScore, describeVerdict } from "./compare_words.ts";
import { JudgeVerdict } from "./judge_verdict.tsx";
import { MOST_NAMES, OnlyInOne } from "./only_in_one.tsx";

/** A comparison: the verdict first, then what it rests on. */
export function Compared({ comparison }: { comparison: StoredComparison }) {
  const { baseline, candidate, verdict, scores } = comparison;
  const { sentence, why } = describeVerdict(comparison);
  const chosen = useSignal<string | undefined>(undefined);
  const isChosen = chosen.value !== undefined && Object.hasOwn(scores, chosen.value);
  // Another pair of runs may lack the score that was chosen.
  const score = isChosen ? chosen.value : decidingScore(comparison);
  const ids = { baseline: baseline.run_id, candidate: candidate.run_id };
  return (
    <>
      <div class={`verdict ${VERDICT_TONES[verdict]}`}>
        <span class={`badge ${VERDICT_TONES[verdict]}`}>{verdict}</span>
        <p class="sentence">{sentence}</p>
        <Differences comparison={comparison} />
        <p class="muted">
          <Explained text={why} />
        </p>
        <div class="sides">
          <Side label="Baseline" run={baseline} />
          <Side label="Candidate" run={candidate} />
        </div>
      </div>
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
      {source.isLive && <JudgeVerdict key={`${ids.baseline} ${ids.candidate}`} ids={ids} />}
      <OnlyInOne comparison={comparison} />
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
function Differences({ comparison }: { comparison: StoredComparison }) {
  const { only_in_baseline, only_in_candidate, changed, scores, notes, other_history } = comparison;
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
    other_history &&
    `${formatNumberOf(other_history.turns, "turn")} after the first are left out: one run was ` +
      "asked after its own replies, the other one after the references.",
    ...notes.map(({ detail }) => asSentence(detail.replace(" (left_out)", ""))),
  ].filter(Boolean);
  if (remarks.length === 0) return null;
  return (
    <div class="notice warn" role="note">
      <Icon name="warning" />
      <div>{remarks.map((remark, index) => <div key={index}>{remark}</div>)}</div>
    </div>
  );
}

function Scenarios({ ids, score }: {
  ids: { baseline: string; candidate: string };
  score: string;
}) {
  const loaded = useLoaded(() => readAll({ ...ids, score }), [ids, score]);
  return (
    <Shown loaded={loaded} what="the scenarios">
      {(scenarios) => <Scatter scenarios={scenarios} />}
    </Shown>
  );
}

/** Reads all pages: a scatter of some scenarios would mislead. */
async function readAll(
  parameters: { baseline: string; candidate: string; score: string },
): Promise<PairedScenarioRow[]> {
  const found: PairedScenarioRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.pairedScenarios({ ...parameters, limit: 1_000, cursor });
    found.push(...page.scenarios);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return found;
}
