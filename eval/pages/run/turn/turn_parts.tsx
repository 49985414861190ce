import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Link } from "../../../../shared/pages/components/link.tsx";
import { formatDuration, formatNumberOf, formatScore } from "../../../../shared/pages/format.ts";
import { query } from "../../../../shared/pages/location.ts";
import type { TurnRow } from "../../../run/turn_view.ts";
import type { InteractionResult, JudgeResult } from "../../../test/interaction_result.ts";
import type { CheckResult } from "../../../test/checks.ts";
import type { ShownTurn } from "../../../http/schemas/turn_schemas.ts";
import type { Run } from "../../../http/schemas/run_schemas.ts";
import { Section } from "../../parts/section.tsx";
import { placeOf, resultOf, RESULTS, saidAt } from "../../words.ts";
import { AttemptButtons, ReplyDiff, sideOf } from "../../parts/replies.tsx";
import { Shown, useLoaded } from "../../loaded.tsx";
import { source } from "../../source.ts";

/** The conversation up to a turn, with the score of each turn. Earlier turns are scrolled away. */
export function Transcript({ turns, omitted }: { turns: TurnRow[]; omitted: number }) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const { current } = list;
    const last = current?.lastElementChild as HTMLElement | null | undefined;
    if (current && last) current.scrollTop = last.offsetTop - current.offsetTop;
  }, [turns]);
  return (
    <Section
      title="Conversation"
      hint={omitted > 0
        ? `${formatNumberOf(omitted, "earlier turn")} not shown`
        : "As the model was asked, with its own earlier replies"}
    >
      <ol class="transcript" ref={list} tabIndex={0} aria-label="Conversation">
        {turns.map((turn, index) => (
          <li key={turn.turn} class={index === turns.length - 1 ? "current" : ""}>
            <div class="said user" dir="auto">{saidAt(turn).user_message}</div>
            <div class="said reply" dir="auto">{saidAt(turn).agent_reply}</div>
            <TurnLink turn={turn} isCurrent={index === turns.length - 1} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function TurnLink({ turn, isCurrent }: { turn: TurnRow; isCurrent: boolean }) {
  const parameters = new URLSearchParams(query.value);
  parameters.set("turn", placeOf(turn));
  const text = `Turn ${turn.turn + 1}: ${formatScore(turn.scores.overall)}`;
  const badge = <span class={`badge ${RESULTS[resultOf(turn)].tone}`}>{text}</span>;
  return isCurrent ? badge : <Link href={`?${parameters}`}>{badge}</Link>;
}

/** The tools that the endpoint called for a reply, and those that were expected. */
export function ToolCalls({ interaction }: { interaction: InteractionResult }) {
  const { tool_calls = [], reference_tools, tools_mode = "exact" } = interaction;
  const expected = reference_tools?.map(({ name }) => name).join(", ") || "none";
  return (
    <Section
      title="Tool calls"
      {...(reference_tools && {
        hint: `Expected (${tools_mode.replaceAll("_", " ")}): ${expected}`,
      })}
    >
      {tool_calls.length === 0 && <p class="muted small">The endpoint called no tool.</p>}
      <ol class="reasons">
        {tool_calls.map(({ name, args, status, ms }, index) => (
          <li key={index}>
            <span class={`badge ${status === "error" ? "bad" : status === "ok" ? "good" : ""}`}>
              {status ?? "called"}
            </span>
            <span>
              <code>{name}</code>
              {ms !== null && <span class="muted">, {formatDuration(ms)}</span>}
              <div class="muted small">
                <code>{typeof args === "string" ? args : JSON.stringify(args)}</code>
              </div>
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Which checks the reply meets, and why not. */
export function CheckResults({ results }: { results: CheckResult[] }) {
  return (
    <Section title="Checks">
      <ul class="reasons">
        {results.map(({ name, value, required, reason, scope }, index) => (
          <li key={index}>
            <span class={`badge ${value === 1 ? "good" : value === 0 ? "bad" : "warn"}`}>
              {value === 1 ? "met" : value === 0 ? "not met" : "missing"}
            </span>
            <span>
              <span dir="auto">{name}</span>
              {required && <span class="muted">, required</span>}
              {scope && <span class="muted">, whole conversation</span>}
              {reason && <div class="muted small" dir="auto">{reason}</div>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const WIDTH = 240;

/** What the judge said: a dot per vote on its scale from 0 to 10, and the reasons. */
export function Judge({ judge }: { judge: JudgeResult }) {
  const { model, grade, votes, spread, error } = judge;
  const at = (grade: number) => 8 + grade / 10 * (WIDTH - 16);
  return (
    <Section
      title="Judge"
      hint={`${model}: ${formatScore(grade, 1)} of 10${
        spread === null ? "" : `, spread ${formatScore(spread, 1)}`
      }${error ? `, ${error}` : ""}`}
    >
      {votes.length > 0 && (
        <svg
          class="votes"
          width={WIDTH}
          height={24}
          viewBox={`0 0 ${WIDTH} 24`}
          role="img"
          aria-label={`Votes: ${votes.map(({ grade }) => grade).join(", ") || "none"}`}
        >
          <line class="axis" x1={at(0)} x2={at(10)} y1={12} y2={12} />
          {[0, 5, 10].map((mark) => (
            <line key={mark} class="axis" x1={at(mark)} x2={at(mark)} y1={8} y2={16} />
          ))}
          {votes.map((vote, index) => (
            <circle key={index} class="vote" cx={at(vote.grade)} cy={12} r={5} />
          ))}
          {grade !== null && <line class="grade" x1={at(grade)} x2={at(grade)} y1={2} y2={22} />}
        </svg>
      )}
      <ul class="reasons">
        {votes.map((vote, index) => (
          <li key={index}>
            <strong class="number">{vote.grade}</strong>
            <span dir="auto">{vote.reason}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const MOST = 50;

/** The same turn in the run's other attempts, beside this one. */
export function OtherAttempts({ run, turn }: { run: Run; turn: ShownTurn }) {
  const loaded = useLoaded(
    () =>
      source.turns(run.run_id, {
        scenario: turn.scenario,
        turn: turn.turn,
        sort: "position",
        fields: "agent_reply,error,wrong_values",
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
          before={sideOf("This attempt", turn)}
          after={sideOf(`Attempt ${shown.attempt_id}`, shown)}
        />
      )}
    </>
  );
}
