import { useSignal } from "@preact/signals";
import { formatScore } from "../../../shared/pages/format.ts";
import type { PairedTurnRow } from "../../figures/pair_lists.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import { OVERALL_PARTS } from "../../score/score.ts";
import { MoreButton } from "../parts/paging.tsx";
import { AttemptButtons, ReplyDiff, sideOf } from "../parts/replies.tsx";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { source } from "../source.ts";
import { differenceText, errorLabel, saidAt, scoreLabel } from "../words.ts";
import { turnAddress } from "./reply_grid.tsx";

const SIDES = ["baseline", "candidate"] as const;
type Ids = Record<typeof SIDES[number], string>;

const FEW = 10;
/** Turns whose replies are shown from the start. */
const SHOWN = 5;
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
      hint={`By ${scoreLabel(score)}, mean of all attempts`}
    >
      <Shown loaded={loaded} what="the turns">
        {({ turns, total }) => (
          <>
            <div class="changes">
              {turns.filter(hasChanged).map((turn, index) => (
                <ChangedTurn
                  key={`${turn.baseline.scenario}/${turn.baseline.turn}`}
                  ids={ids}
                  turn={turn}
                  score={score}
                  isShown={index < SHOWN}
                />
              ))}
            </div>
            {limit.value === FEW && (total ?? 0) > FEW && (
              <MoreButton onMore={() => limit.value = MORE} />
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

function ChangedTurn({ ids, turn, score, isShown }: {
  ids: Ids;
  turn: PairedTurnRow;
  score: string;
  isShown: boolean;
}) {
  const isOpen = useSignal(isShown);
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
      {isOpen.value && <BothReplies ids={ids} turn={turn} score={score} />}
    </details>
  );
}

const MOST_ATTEMPTS = 50;

/** Without those after the references: they are no part of the means. */
async function attemptsOf(
  run: string,
  { scenario, turn }: PairedTurnRow["baseline"],
): Promise<TurnRow[]> {
  const { turns } = await source.turns(run, {
    scenario,
    turn,
    sort: "position",
    fields: "user_message,agent_reply,reference_reply,wrong_values",
    limit: MOST_ATTEMPTS,
  });
  return turns;
}

/** One attempt of each run; at first those that show the change best. */
function BothReplies({ ids, turn, score }: { ids: Ids; turn: PairedTurnRow; score: string }) {
  const loaded = useLoaded(
    () => Promise.all(SIDES.map((side) => attemptsOf(ids[side], turn[side]))),
    [ids, turn],
  );
  const chosen = useSignal<Partial<Record<string, number>>>({});
  return (
    <Shown loaded={loaded} what="the replies">
      {(attempts) => {
        const [before, after] = SIDES.map((side, index) =>
          attempts[index]!.find(({ attempt_id }) => attempt_id === chosen.value[side]) ??
            extremeOf(attempts[index]!, score, (side === "candidate") === turn.difference > 0)
        );
        if (!before || !after) return null;
        const { user_message, reference_reply } = saidAt(after);
        const causes = movedParts(before, after);
        return (
          <div class="change">
            <blockquote class="asked" dir="auto">{user_message}</blockquote>
            {causes.length > 0 && (
              <p>
                <span class="muted">Because of</span> {causes.join(", ")}
              </p>
            )}
            {attempts.some(({ length }) => length > 1) && (
              <div class="pair-choices">
                {SIDES.map((side, index) => (
                  <AttemptButtons
                    key={side}
                    label={`Attempts of the ${side}`}
                    attempts={attempts[index]!}
                    score={score}
                    chosen={[before, after][index]!.attempt_id}
                    onChoose={(attempt) => chosen.value = { ...chosen.value, [side]: attempt }}
                  />
                ))}
              </div>
            )}
            <ReplyDiff
              before={sideOf(
                labelOf("Baseline", before),
                before,
                turnAddress(ids.baseline, before),
              )}
              after={sideOf(labelOf("Candidate", after), after, turnAddress(ids.candidate, after))}
            />
            {reference_reply && (
              <p class="small">
                <span class="muted">Reference:</span> <span dir="auto">{reference_reply}</span>
              </p>
            )}
          </div>
        );
      }}
    </Shown>
  );
}

/** What changed the score of a turn: the parts of `overall` that moved, the furthest first. */
function movedParts({ scores: before }: TurnRow, { scores: after }: TurnRow): string[] {
  const moved = OVERALL_PARTS.flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    if (typeof was !== "number" || typeof is !== "number") return [];
    const text = `${scoreLabel(name)} ${formatScore(was)} → ${formatScore(is)}`;
    return [{ text, size: Math.abs(is - was) }];
  });
  return moved.filter(({ size }) => size >= LEAST_MOVED).toSorted((a, b) => b.size - a.size)
    .map(({ text }) => text);
}

/** Less is not shown as a difference. */
const LEAST_MOVED = 0.005;

/** A failed call has no reply, and would look like an empty one. */
function labelOf(run: string, { attempt_id, error }: TurnRow): string {
  return `${run}, attempt ${attempt_id}${error ? `, failed: ${errorLabel(error)}` : ""}`;
}

/** The attempt with the highest score, or the lowest. What failed or is missing counts 0. */
function extremeOf(attempts: TurnRow[], score: string, isHighest: boolean): TurnRow | undefined {
  const valueOf = ({ scores }: TurnRow) => scores[score] ?? 0;
  return attempts.toSorted((a, b) => valueOf(a) - valueOf(b)).at(isHighest ? -1 : 0);
}
