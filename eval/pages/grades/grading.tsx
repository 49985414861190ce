import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import {
  formatAge,
  formatDateTime,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import type { Grade } from "../../schemas/grades.ts";
import type { TurnGrades } from "../../api/grade_routes.ts";
import { gradeTurn } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { source } from "../source.ts";
import { useSending } from "../sending.ts";
import { bound, isUnit, SuggestField, UnitInput } from "../parts/fields.tsx";

/** The values that have a key, from `1` to `5`. */
const STEPS = [0, 0.25, 0.5, 0.75, 1];
/** Who grades here, kept in this browser. */
export const AUTHOR = "grade-author";

/** What people say of a turn, and a form to say it. `place` is `scenario/attempt_id/turn`. */
export function Grading({ runId, place }: { runId: string; place: string }) {
  const grades = useLoaded(() => source.turnGrades(runId, place), [runId, place]);
  if (!source.isLive && grades.value?.grades.length === 0) return null;
  return (
    <Section
      title="Grades by people"
      hint={source.isLive
        ? (
          <span class="of-keys">
            <kbd>1</kbd> to <kbd>5</kbd> choose a grade, <kbd>c</kbd> goes to the comment,{" "}
            <kbd>s</kbd> saves.
          </span>
        )
        : undefined}
    >
      <Shown loaded={grades} what="the grades">
        {(found) => (
          <>
            <GradesOfTurn {...found} />
            {source.isLive && (
              <GradeForm
                runId={runId}
                place={place}
                grades={found.grades}
                onSaved={grades.reload}
              />
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

/** A grade as the form has it; empty if there is none. */
function toEntry(grade: Grade | undefined): { value: string; label: string; comment: string } {
  return {
    value: grade ? String(grade.value) : "",
    label: grade?.label ?? "",
    comment: grade?.comment ?? "",
  };
}

function GradeForm({ runId, place, grades, onSaved }: {
  runId: string;
  place: string;
  grades: Grade[];
  onSaved: () => void;
}) {
  const author = useSignal(readChoice<string>(AUTHOR) ?? "");
  const own = (name: string) => grades.find((grade) => (grade.author ?? "") === name);
  const first = toEntry(own(author.value));
  const value = useSignal(first.value);
  const label = useSignal(first.label);
  const comment = useSignal(first.comment);
  /** Whose grade the form was filled with. */
  const shown = useRef(author.value);
  const { problem, send } = useSending();
  const commentBox = useRef<HTMLTextAreaElement>(null);
  const exact = useRef<HTMLInputElement>(null);
  const labels = [...new Set(grades.flatMap((grade) => grade.label ?? []))];
  const errorId = useId();

  const canSave = value.value.trim() !== "" && isUnit(value.value);

  /** Shows the person's own grade, unless another one was entered: a name may begin with another. */
  function changeAuthor(name: string): void {
    author.value = name;
    const before = toEntry(own(shown.current));
    const isEntered = value.value !== before.value || label.value !== before.label ||
      comment.value !== before.comment;
    if (isEntered) return;
    shown.current = name.trim();
    const next = toEntry(own(shown.current));
    value.value = next.value;
    label.value = next.label;
    comment.value = next.comment;
  }

  async function save(): Promise<void> {
    if (!canSave) return exact.current?.focus();
    const name = author.value.trim();
    keepChoice(AUTHOR, name);
    await send(async () => {
      await gradeTurn(runId, place, {
        value: Number(value.value),
        ...(label.value.trim() && { label: label.value.trim() }),
        ...(comment.value.trim() && { comment: comment.value.trim() }),
        ...(name && { author: name }),
      });
      shown.current = name;
      showToast("The grade is saved.");
      onSaved();
    });
  }

  useShortcuts([
    ...STEPS.map((step, index) => ({
      key: String(index + 1),
      does: index === 0 ? "Choose a grade; 2 to 5 choose higher ones" : "",
      run: () => void (value.value = String(step)),
    })),
    { key: "c", does: "Go to the comment of the grade", run: () => commentBox.current?.focus() },
    { key: "s", does: "Save the grade", run: save },
  ]);

  const errorOf = (field: string) =>
    problem.value?.errors.find(({ path }) => path === field)?.message;
  const valueError = isUnit(value.value) ? errorOf("value") : "Enter a number from 0 to 1.";
  return (
    <form
      class="grade-form"
      aria-label="Grade this turn"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        if (event.target instanceof HTMLElement) event.target.blur(); // so that keys work again
        save();
      }}
    >
      {problem.value && !problem.value.errors.some(({ path }) => errorOf(path)) && (
        <ProblemNotice problem={problem.value} />
      )}
      <div class="grade-steps" role="group" aria-label="Grade">
        {STEPS.map((step, index) => (
          <Button
            key={step}
            isSmall
            aria-pressed={value.value !== "" && Number(value.value) === step}
            onClick={() => value.value = String(step)}
          >
            <kbd aria-hidden="true">{index + 1}</kbd> {formatScore(step)}
          </Button>
        ))}
        <UnitInput
          inputRef={exact}
          aria-label="Grade from 0 to 1"
          placeholder="0–1"
          value={value.value}
          {...(valueError && { "aria-invalid": "true", "aria-describedby": errorId })}
          onInput={(text) => value.value = text}
        />
        {valueError && <span class="field-error" id={errorId}>{valueError}</span>}
      </div>
      <div class="row">
        <TextField
          label="Your name"
          dir="auto"
          value={author.value}
          error={errorOf("author")}
          hint="Each person has one grade per turn"
          onInput={changeAuthor}
        />
        <SuggestField
          label="Label"
          dir="auto"
          {...bound(label)}
          error={errorOf("label")}
          hint="A category, such as wrong tone"
          suggestions={labels}
        />
      </div>
      <Field label="Comment" error={errorOf("comment")}>
        {(input) => (
          <textarea
            {...input}
            ref={commentBox}
            dir="auto"
            rows={2}
            value={comment.value}
            onInput={({ currentTarget }) => comment.value = currentTarget.value}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          />
        )}
      </Field>
      <div class="start">
        <Button kind="primary" type="submit" disabled={!canSave}>
          {own(author.value.trim()) ? "Change the grade" : "Save the grade"}
        </Button>
      </div>
    </form>
  );
}

/** The latest grade of each person, and beneath them what they said before. */
function GradesOfTurn({ grades, history }: TurnGrades) {
  if (grades.length === 0) return <p class="muted small">Nobody has graded this turn yet.</p>;
  return (
    <>
      <ul class="reasons">
        {grades.map((grade) => <GradeRow key={grade.author ?? ""} grade={grade} />)}
      </ul>
      {history.length > grades.length && (
        <details class="as-table">
          <summary>{formatNumberOf(history.length, "grade")} so far</summary>
          <ul class="reasons">
            {history.toReversed().map((grade) => (
              <GradeRow key={`${grade.author} ${grade.version}`} grade={grade} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function GradeRow({ grade }: { grade: Grade }) {
  const { value, author, label, comment, version, created_at } = grade;
  return (
    <li>
      <strong class="number">{formatScore(value)}</strong>
      <span>
        <span dir="auto">{authorName(author)}</span>{" "}
        {label && <span class="badge" dir="auto">{label}</span>}{" "}
        <span class="muted small" title={formatDateTime(created_at)}>
          {formatAge(created_at)}
          {version > 1 && `, version ${version}`}
        </span>
        {comment && <div class="comment" dir="auto">{comment}</div>}
      </span>
    </li>
  );
}

/** Grades without an author share one name. */
export function authorName(author: string | null): string {
  return author ?? "somebody";
}
