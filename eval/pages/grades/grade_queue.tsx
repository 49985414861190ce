import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { hasMarkup, RichText } from "../parts/rich_text.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";
import { gradeTurn, withdrawGrade } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { ReplyDiff } from "../parts/replies.tsx";
import { tryAction } from "../actions.tsx";
import { source } from "../source.ts";
import { placeOf, saidAt } from "../words.ts";
import { AUTHOR } from "./grading.tsx";

/** What the keys 1 to 5 mean. */
const GRADES: [word: string, value: number][] = [
  ["wrong", 0],
  ["mostly wrong", 0.25],
  ["half right", 0.5],
  ["mostly right", 0.75],
  ["right", 1],
];

/** One turn after another that nobody has graded: a key grades it, and the next one comes. */
export function GradeQueue({ runId, count, onGraded }: {
  runId: string;
  /** Of grades: if it changes, the queue does. */
  count: number;
  onGraded: () => void;
}) {
  const author = useSignal(readChoice<string>(AUTHOR) ?? "");
  const isNamed = useSignal(author.value !== "");
  const skipped = useSignal(0);
  const loaded = useLoaded(
    () =>
      source.turns(runId, {
        graded: "false",
        counted: "true",
        sort: "overall",
        limit: skipped.value + 1,
        fields: "user_message,reference_reply,agent_reply",
      }),
    [runId, skipped.value, count],
  );
  const { turns = [], total } = loaded.value ?? {};
  const turn = turns[skipped.value] ?? turns[0];
  const left = typeof total === "number" && `${formatNumberOf(total, "turn")} left, `;

  function after(): void {
    loaded.reload();
    onGraded();
  }
  const grade = (value: number, word: string) =>
    tryAction(async () => {
      if (!turn) return;
      const place = placeOf(turn);
      const name = author.value.trim();
      await gradeTurn(runId, place, { value, ...(name && { author: name }) });
      after();
      showToast(`${turn.scenario_id}: ${word}`, {
        label: "Undo",
        run: () =>
          tryAction(async () => {
            await withdrawGrade(runId, place, name);
            after();
            return "The grade is withdrawn.";
          }),
      });
    });
  useShortcuts(
    isNamed.value
      ? GRADES.map(([word, value], index) => ({
        key: String(index + 1),
        does: `Grade: ${word}`,
        run: () => grade(value, word),
      }))
      : [],
  );
  if (!isNamed.value) {
    return (
      <Section title="Grade replies" hint={left && `${left}the worst first.`}>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            keepChoice(AUTHOR, author.value.trim());
            isNamed.value = true;
          }}
        >
          <label>
            Your name{" "}
            <input
              class="input auto"
              value={author.value}
              onInput={({ currentTarget }) => author.value = currentTarget.value}
            />
          </label>
          <Button kind="primary" type="submit">Start grading</Button>
          <span class="muted small">The name is asked once, and kept with each grade.</span>
        </form>
      </Section>
    );
  }
  return (
    <Section
      title="Grade replies"
      hint={turn && (
        <>
          {left}the worst first.{" "}
          <span class="of-keys">
            <kbd>1</kbd> to <kbd>5</kbd> grade the reply and show the next one.
          </span>
        </>
      )}
    >
      <Shown loaded={loaded} what="the next reply">
        {() =>
          turn ? <Asked turn={turn} /> : <p class="muted">Every turn of this run is graded.</p>}
      </Shown>
      {turn && (
        <div class="filters" role="group" aria-label="Grades">
          {GRADES.map(([word, value], index) => (
            <Button
              key={word}
              isSmall
              onClick={() => grade(value, word)}
            >
              <kbd>{formatCount(index + 1)}</kbd> {word}
            </Button>
          ))}
          <Button kind="quiet" isSmall onClick={() => skipped.value++}>Skip</Button>
        </div>
      )}
    </Section>
  );
}

function Asked({ turn }: { turn: TurnRow }) {
  const { user_message = "", reference_reply = "", agent_reply = "" } = saidAt(turn);
  return (
    <>
      <blockquote class="asked" dir="auto">{user_message}</blockquote>
      {hasMarkup(agent_reply)
        ? (
          <div class="pair">
            <div class="plain-text" dir="auto">{reference_reply}</div>
            <RichText text={agent_reply} />
          </div>
        )
        : <ReplyDiff reply={agent_reply} reference={reference_reply} />}
    </>
  );
}
