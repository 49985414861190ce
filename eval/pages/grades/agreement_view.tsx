import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatChosen, formatNumberOf } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Agreement } from "../../schemas/agreement.ts";
import type { Run } from "../../api/run_schemas.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { useLoaded } from "../loaded.ts";
import { Shown } from "../shown.tsx";
import { source } from "../source.ts";
import { isUnit, UnitInput } from "../unit_input.tsx";
import { overallFirst, scoreLabel } from "../words.ts";
import { GradedTurns } from "./graded_turns.tsx";
import { JudgeSection } from "./judge_section.tsx";
import { PeopleSection } from "./people_section.tsx";

/** Do people agree with each other, and a score with them? The score is in the address (`against`). */
export function AgreementView({ run, summary }: { run: Run; summary: RunSummary }) {
  const score = query.value.get("against") ?? undefined;
  const threshold = query.value.get("pass_from") ?? undefined;
  const loaded = useLoaded(
    () => source.agreement(run.run_id, { score, pass_threshold: threshold }),
    [run.run_id, score, threshold],
  );
  return (
    <Shown loaded={loaded} what="the grades">
      {(agreement) =>
        agreement.grades === 0 ? <NoGrades /> : (
          <>
            <div class="page-head">
              <p>
                {formatNumberOf(agreement.grades, "grade")} of{" "}
                {formatNumberOf(agreement.graded_turns, "turn")} by{" "}
                {formatNumberOf(agreement.authors.length, "person", "people")}
              </p>
              <span class="spacer" />
              {source.isLive && <Choices agreement={agreement} summary={summary} />}
            </div>
            <div class="columns">
              <JudgeSection agreement={agreement} />
              <PeopleSection agreement={agreement} />
            </div>
            {source.isLive && <GradedTurns runId={run.run_id} />}
          </>
        )}
    </Shown>
  );
}

function NoGrades() {
  return (
    <Empty icon="edit" title="No grades yet">
      <p>
        Open a turn and grade it: press <kbd>1</kbd> to{" "}
        <kbd>5</kbd>. With the grades of some turns you see how far people agree, where the judge is
        too kind or too strict, and which threshold fits best.
      </p>
      <Button onClick={() => setQuery({ view: undefined, turn: "0/1/0" })}>
        Grade the first turn
      </Button>
    </Empty>
  );
}

function Choices({ agreement, summary }: { agreement: Agreement; summary: RunSummary }) {
  const names = overallFirst(Object.keys(summary.statistics));
  const typed = useSignal(formatChosen(agreement.pass_threshold));
  return (
    <span class="filters">
      <label>
        Score{" "}
        <select
          class="input auto"
          value={agreement.judge?.score ?? query.value.get("against") ?? "overall"}
          onChange={({ currentTarget }) => setQuery({ against: currentTarget.value })}
        >
          {names.map((name) => <option key={name} value={name}>{scoreLabel(name)}</option>)}
        </select>
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
