import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../../../shared/pages/components/button.tsx";
import { Icon } from "../../../../shared/pages/components/icon.tsx";
import { Term } from "../../../../shared/pages/components/tip.tsx";
import { useShortcuts } from "../../../../shared/pages/components/keyboard.tsx";
import {
  formatChosen,
  formatCount,
  formatDuration,
  formatMoney,
} from "../../../../shared/pages/format.ts";
import { query, returnTo, setQuery, withChanges } from "../../../../shared/pages/location.ts";
import type { ShownTurn } from "../../../http/schemas/turn_schemas.ts";
import { Section } from "../../parts/section.tsx";
import { CodeText, Fact } from "../../parts/boxes.tsx";
import { Explained } from "../../glossary.tsx";
import { Shown, useLoaded } from "../../loaded.tsx";
import { tryAction } from "../../actions.tsx";
import { type RunAndSummary, source } from "../../source.ts";
import { Grading } from "../../grades/grading.tsx";
import {
  adviceOn,
  asSentence,
  errorLabel,
  overallText,
  placeOf,
  resultOf,
  RESULTS,
} from "../../words.ts";
import { ReplyDiff } from "../../parts/replies.tsx";
import { CheckResults, Judge, OtherAttempts, ToolCalls, Transcript } from "./turn_parts.tsx";
import { turnParameters } from "./turn_query.ts";
import { findNeighbour } from "./turn_list.ts";
import { TurnScores } from "./turn_scores.tsx";

/** One turn: what was said, what was expected, and every score of it. */
export function TurnView({ run, summary, place }: RunAndSummary & {
  place: string;
}) {
  const loaded = useLoaded(() => source.turn(run.run_id, place), [run.run_id, place]);
  const walk = (step: 1 | -1) =>
    tryAction(async () => {
      const parameters = turnParameters();
      const next = await findNeighbour(run.run_id, { from: place, step, parameters });
      if (!next && parameters.graded) return "There is no other reply without a grade.";
      if (!next) return `There is no failing turn ${step > 0 ? "after" : "before"} this one.`;
      setQuery({ turn: next });
    });
  /** The parameters of the comparison that the person came from. */
  const comparison = query.value.get("from");
  const close = () =>
    returnTo(
      comparison !== null ? `/ui/compare?${comparison}` : withChanges({ turn: undefined }).href,
    );
  useShortcuts([
    { key: "j", does: "Next failing turn", run: () => walk(1) },
    { key: "k", does: "Previous failing turn", run: () => walk(-1) },
    {
      key: "u",
      does: comparison !== null ? "Back to the comparison" : "Back to the run",
      run: close,
    },
  ]);
  return (
    <>
      <div class="page-head">
        <Button icon="left" onClick={close}>
          <span class="excerpt" dir="auto">
            {comparison !== null ? "The comparison" : run.test_name || "The run"}
          </span>
        </Button>
        <span class="spacer" />
        <Button icon="left" onClick={() => walk(-1)}>
          Previous <span class="failing">failing</span>
        </Button>
        <Button onClick={() => walk(1)}>
          Next <span class="failing">failing</span>
          <Icon name="right" />
        </Button>
      </div>
      <Shown loaded={loaded} what="the turn">
        {(turn) => (
          <Turn
            key={placeOf(turn)}
            run={run}
            summary={summary}
            turn={turn}
            // Of the replies without a grade, the next one comes.
            onGraded={() => query.value.get("graded") === "false" && walk(1)}
          />
        )}
      </Shown>
    </>
  );
}

function Turn({ run, summary, turn, onGraded }: RunAndSummary & {
  turn: ShownTurn;
  onGraded: () => void;
}) {
  const { interaction, conversation } = turn;
  const { label, tone } = RESULTS[resultOf(turn)];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const raw = JSON.stringify(interaction, null, 2);
  return (
    <>
      <div class="run-head">
        <div class="page-head">
          <h2 ref={heading} tabIndex={-1}>
            <span dir="auto">{turn.scenario_id}</span>
            <span class="muted">
              , turn {turn.turn + 1}, attempt {turn.attempt_id}
            </span>
          </h2>
          <span class={`badge ${tone}`}>{label}</span>
          <strong class="number">{overallText(turn)}</strong>
        </div>
        {turn.description && <p class="muted" dir="auto">{turn.description}</p>}
        <dl class="facts">
          <Fact label="Latency">
            {interaction.latency_ms === null ? "not known" : formatDuration(interaction.latency_ms)}
          </Fact>
          {interaction.first_token_ms !== undefined && (
            <Fact label="First token">{formatDuration(interaction.first_token_ms)}</Fact>
          )}
          <Fact label="Tokens">
            {interaction.usage
              ? `${formatCount(interaction.usage.input_tokens)} in, ${
                formatCount(interaction.usage.output_tokens)
              } out`
              : "not reported"}
          </Fact>
          <Fact label={<Explained text="Threshold" />}>{formatChosen(turn.pass_threshold)}</Fact>
          {interaction.cost !== undefined && (
            <Fact label="Cost">
              {interaction.cost ? formatMoney(interaction.cost) : "not known"}
              {interaction.judge_cost && `, judge ${formatMoney(interaction.judge_cost)}`}
            </Fact>
          )}
          {interaction.finish_reason && (
            <Fact label="Finish reason">{interaction.finish_reason}</Fact>
          )}
        </dl>
      </div>
      {conversation.length > 1 && <Transcript turns={conversation} omitted={turn.omitted} />}
      <Section title="Reply and reference">
        <blockquote class="asked" dir="auto">{interaction.user_message}</blockquote>
        <Images parts={interaction.user_parts} />
        {interaction.error
          ? (
            <div class="notice bad">
              <div>
                <strong>
                  <Term means={`The code of this failure is ${interaction.error.code}.`}>
                    {asSentence(errorLabel(interaction.error.code))}
                  </Term>
                </strong>{" "}
                {interaction.error.detail}. {adviceOn(interaction.error)}
              </div>
            </div>
          )
          : (
            <ReplyDiff
              before={{
                label: "Reference",
                text: interaction.reference_reply,
                wrong: interaction.wrong_values,
              }}
              after={{
                label: "Reply",
                text: interaction.agent_reply,
                wrong: interaction.wrong_values,
              }}
            />
          )}
        {!interaction.error && turn.why && (
          <ul class="remarks">
            {turn.why.map((reason) => <li key={reason} dir="auto">{reason}</li>)}
          </ul>
        )}
        {interaction.reply_encoding && (
          <div class="notice warn">
            <div>The endpoint's bytes were not UTF-8; what could not be read is shown as �.</div>
          </div>
        )}
        {interaction.truncated && (
          <div class="notice warn">
            <div>The reply ends at the model's token limit.</div>
          </div>
        )}
        {interaction.reasoning && (
          <details class="as-table">
            <summary>Reasoning, which is not scored</summary>
            <p class="text" dir="auto" tabIndex={0}>{interaction.reasoning}</p>
          </details>
        )}
      </Section>
      <div class="columns">
        <div class="stack">
          <TurnScores turn={turn} summary={summary} />
          {interaction.check_results && <CheckResults results={interaction.check_results} />}
          {interaction.tool_calls && <ToolCalls interaction={interaction} />}
          {run.attempts > 1 && <OtherAttempts run={run} turn={turn} />}
        </div>
        <div class="stack">
          <Grading runId={run.run_id} place={placeOf(turn)} onGraded={onGraded} />
          {interaction.judge && <Judge judge={interaction.judge} />}
        </div>
      </div>
      <details class="card raw">
        <summary>Raw JSON</summary>
        <CodeText name="json" text={raw} copy="Copy JSON" />
      </details>
    </>
  );
}

/** Those that came with the message; others are addresses in its text, which this page does not call. */
function Images({ parts = [] }: { parts?: ShownTurn["interaction"]["user_parts"] }) {
  const urls = parts.flatMap((part) => part.type === "image_url" ? [part.image_url.url] : []);
  return (
    <>
      {urls.filter((url) => url.startsWith("data:image/")).map((url) => (
        <img key={url} class="asked-image" src={url} alt="Image of the question" />
      ))}
    </>
  );
}
