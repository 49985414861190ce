import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { PairedTurnRow } from "../../compare/pair_lists.ts";
import { Section } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { ReplyDiff } from "../reply_diff.tsx";
import { Shown } from "../shown.tsx";
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
  const loaded = useLoaded(
    () => source.pairedTurns({ ...ids, score, sort: "-change", limit: limit.value }),
    [ids, score, limit.value],
  );
  if (loaded.value && !loaded.value.turns.some(hasChanged)) return null;
  return (
    <Section
      title="Turns that changed most"
      hint={`By ${scoreLabel(score)}, mean of all attempts. Open one to see the replies.`}
    >
      <Shown loaded={loaded} what="the turns">
        {({ turns, total }) => (
          <>
            <div class="changes">
              {turns.filter(hasChanged).map((turn) => (
                <ChangedTurn
                  key={`${turn.baseline.scenario}/${turn.baseline.turn}`}
                  ids={ids}
                  turn={turn}
                />
              ))}
            </div>
            {limit.value === FEW && (total ?? 0) > FEW && (
              <div class="more">
                <Button isSmall onClick={() => limit.value = MORE}>Show more</Button>
              </div>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function hasChanged({ difference }: PairedTurnRow): boolean {
  return Math.abs(difference) > 1e-9;
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
  const loaded = useLoaded(
    () =>
      Promise.all([
        source.turn(ids.baseline, `${baseline.scenario}/1/${baseline.turn}`),
        source.turn(ids.candidate, `${candidate.scenario}/1/${candidate.turn}`),
      ]),
    [ids, baseline, candidate],
  );
  return (
    <Shown loaded={loaded} what="the replies">
      {([before, after]) => (
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
      )}
    </Shown>
  );
}
