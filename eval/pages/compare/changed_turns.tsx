import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Loading, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { PairedTurnRow } from "../../compare/pair_lists.ts";
import { Section } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { ReplyDiff } from "../reply_diff.tsx";
import { source } from "../source.ts";
import { differenceText, scoreLabel } from "../words.ts";

interface Ids {
  baseline: string;
  candidate: string;
}

const FEW = 10;
const MORE = 50;

/** The turns that changed most, each with both replies. */
export function ChangedTurns({ ids, score }: { ids: Ids; score: string }) {
  const limit = useSignal(FEW);
  const { value } = useLoaded(
    () => source.pairedTurns({ ...ids, score, sort: "-change", limit: limit.value }),
    [ids, score, limit.value],
  );
  const changed = value?.turns.filter(({ difference }) => Math.abs(difference) > 1e-9);
  if (changed?.length === 0) return null;
  return (
    <Section
      title="Turns that changed most"
      hint={`By ${scoreLabel(score)}, mean of all attempts. Open one to see what was replied.`}
    >
      {!changed ? <Loading what="the turns" /> : (
        <div class="changes">
          {changed.map((turn) => (
            <ChangedTurn
              key={`${turn.baseline.scenario}/${turn.baseline.turn}`}
              ids={ids}
              turn={turn}
            />
          ))}
        </div>
      )}
      {limit.value === FEW && value && (value.total ?? 0) > FEW && (
        <div class="more">
          <Button isSmall onClick={() => limit.value = MORE}>Show more</Button>
        </div>
      )}
    </Section>
  );
}

function ChangedTurn({ ids, turn }: { ids: Ids; turn: PairedTurnRow }) {
  const isOpen = useSignal(false);
  const { difference, baseline, candidate } = turn;
  return (
    <details
      open={isOpen.value}
      onToggle={({ currentTarget }) => isOpen.value = currentTarget.open}
    >
      <summary>
        <span class={`badge ${difference > 0 ? "good" : "bad"}`}>{differenceText(difference)}</span>
        <span class="excerpt" dir="auto">
          {turn.scenario_id}
          <span class="muted">, turn {baseline.turn + 1}</span>
        </span>
        <span class="number muted">
          {formatScore(baseline.mean)} → {formatScore(candidate.mean)}
        </span>
      </summary>
      {isOpen.value && <BothReplies ids={ids} turn={turn} />}
    </details>
  );
}

/** The first attempt of each run. */
function BothReplies({ ids, turn: { baseline, candidate } }: { ids: Ids; turn: PairedTurnRow }) {
  const { value, problem } = useLoaded(
    () =>
      Promise.all([
        source.turn(ids.baseline, `${baseline.scenario}/1/${baseline.turn}`),
        source.turn(ids.candidate, `${candidate.scenario}/1/${candidate.turn}`),
      ]),
    [ids, baseline, candidate],
  );
  if (problem) return <ProblemNotice problem={problem} />;
  if (!value) return <Loading what="the replies" />;
  const [before, after] = value;
  return (
    <div class="change">
      <blockquote class="asked" dir="auto">{after.interaction.user_message}</blockquote>
      <ReplyDiff
        reference={before.interaction.agent_reply}
        reply={after.interaction.agent_reply}
        labels={["Baseline, attempt 1", "Candidate, attempt 1"]}
      />
      {after.interaction.reference_reply && (
        <p class="small">
          <span class="muted">Reference:</span>{" "}
          <span dir="auto">{after.interaction.reference_reply}</span>
        </p>
      )}
    </div>
  );
}
