import { useSignal } from "@preact/signals";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatChosen, formatNumberOf } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { GradeAgreement } from "../../test/grades.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import { Shown, useLoaded } from "../loaded.tsx";
import { type RunAndSummary, source } from "../source.ts";
import { isUnit, Select, UnitInput } from "../parts/fields.tsx";
import { overallFirst, scoreLabel } from "../words.ts";
import { describeAlpha, JudgeSection, PeopleSection } from "./agreement_sections.tsx";
import { GradedTurns } from "./graded_turns.tsx";

/** Fewer grades say nothing about agreement. */
const LEAST_GRADES = 10;

/** Do people agree with each other, and a score with them? The score is in the address (`against`). */
export function AgreementView({ run, summary }: RunAndSummary) {
  const score = query.value.get("against") ?? undefined;
  const threshold = query.value.get("pass_from") ?? undefined;
  const loaded = useLoaded(
    () => source.agreement(run.run_id, { score, pass_threshold: threshold }),
    [run.run_id, score, threshold],
  );
  return (
    <>
      <Shown loaded={loaded} what="the grades">
        {(agreement) => (
          <>
            <div class="page-head">
              <p>
                {agreement.judge && agreement.grades >= LEAST_GRADES && (
                  <span class="sentence">
                    {`Agreement of ${scoreLabel(agreement.judge.score)} with people: ${
                      describeAlpha(agreement.judge.alpha)
                    }`}
                    <br />
                  </span>
                )}
                {agreement.grades === 0
                  ? "No grades yet."
                  : `${formatNumberOf(agreement.grades, "grade")} of ${
                    formatNumberOf(agreement.graded_turns, "turn")
                  } by ${formatNumberOf(agreement.authors.length, "person", "people")}.`}
                {agreement.grades < LEAST_GRADES && (
                  <span class="muted">
                    {` From ${LEAST_GRADES} grades on you see how far people agree, whether the judge ` +
                      "is too kind or too strict, and which threshold fits best."}
                  </span>
                )}
              </p>
              <span class="spacer" />
              {source.isLive && (
                <Link class="button" href="?graded=false">Replies without a grade</Link>
              )}
              {source.isLive && agreement.grades >= LEAST_GRADES && (
                <Choices agreement={agreement} summary={summary} />
              )}
            </div>
            {agreement.grades >= LEAST_GRADES && (
              <div class="columns">
                <JudgeSection agreement={agreement} />
                <PeopleSection agreement={agreement} />
              </div>
            )}
            {source.isLive && agreement.grades > 0 && (
              <GradedTurns runId={run.run_id} count={agreement.grades} onChange={loaded.reload} />
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Choices({ agreement, summary }: { agreement: GradeAgreement; summary: RunSummary }) {
  const names = overallFirst(Object.keys(summary.statistics));
  const typed = useSignal(formatChosen(agreement.pass_threshold));
  return (
    <span class="filters">
      <label>
        Score{" "}
        <Select
          options={names.map((name) => [name, scoreLabel(name)])}
          value={agreement.judge?.score ?? query.value.get("against") ?? "overall"}
          onChoose={(against) => setQuery({ against })}
        />
      </label>
      <label>
        Grades pass from{" "}
        <UnitInput
          value={typed.value}
          aria-invalid={!isUnit(typed.value)}
          onInput={(text) => typed.value = text}
          onChange={(pass_from) => isUnit(pass_from) && setQuery({ pass_from })}
        />
      </label>
    </span>
  );
}
