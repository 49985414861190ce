import { useSignal } from "@preact/signals";
import type { ShownTurn } from "../../../api/schemas/turn_schemas.ts";
import type { Run } from "../../../api/schemas/run_schemas.ts";
import type { TurnRow } from "../../../run/events/turn_view.ts";
import { AttemptButtons, ReplyDiff } from "../../parts/replies.tsx";
import { Section } from "../../frame.tsx";
import { saidAt } from "../../words.ts";
import { Shown, useLoaded } from "../../loaded.tsx";
import { source } from "../../source.ts";

const MOST = 50;

/** The same turn in the run's other attempts, beside this one. */
export function OtherAttempts({ run, turn }: { run: Run; turn: ShownTurn }) {
  const loaded = useLoaded(
    () =>
      source.turns(run.run_id, {
        scenario: turn.scenario,
        turn: turn.turn,
        sort: "position",
        fields: "agent_reply,error",
        counted: "true",
        limit: MOST,
      }),
    [run.run_id, turn.scenario, turn.turn],
  );
  return (
    <Section
      title="Attempts"
      hint="Choose another attempt to see how its reply differs from this one."
    >
      <Shown loaded={loaded} what="the attempts">
        {({ turns }) => <Choice turn={turn} attempts={turns} />}
      </Shown>
    </Section>
  );
}

/** `attempts` includes this one. */
function Choice({ turn, attempts }: { turn: ShownTurn; attempts: TurnRow[] }) {
  const other = useSignal<number | undefined>(undefined);
  const others = attempts.filter(({ attempt_id }) => attempt_id !== turn.attempt_id);
  const shown = others.find(({ attempt_id }) => attempt_id === other.value) ?? others[0];
  return (
    <>
      <AttemptButtons
        label="Attempts"
        attempts={attempts}
        chosen={shown?.attempt_id}
        own={turn.attempt_id}
        onChoose={(attempt) => other.value = attempt}
      />
      {shown && (
        <ReplyDiff
          reference={turn.interaction.agent_reply}
          reply={saidAt(shown).agent_reply ?? ""}
          labels={["This attempt", `Attempt ${shown.attempt_id}`]}
        />
      )}
    </>
  );
}
