import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useId, useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import { formatAge, formatDateTime, formatScore } from "../../../shared/pages/format.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import type { Grade } from "../../test/grades.ts";
import { tryAction } from "../actions.tsx";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { source } from "../source.ts";
import { useSending } from "../sending.ts";
import { isUnit, SuggestField, UnitInput } from "../parts/fields.tsx";

/** The grades that have a key, from `1` to `5`. */
export const STEPS: [word: string, value: number][] = [
  ["wrong", 0],
  ["mostly wrong", 0.25],
  ["half right", 0.5],
  ["mostly right", 0.75],
  ["right", 1],
];
/** Who grades here, kept in this browser. */
export const AUTHOR = "grade-author";

/**
 * What people say of a turn, and a form to say it. `place` is `scenario/attempt_id/turn`. After a key
 * has graded the turn, `onGraded` is called.
 */
export function Grading({ runId, place, onGraded }: {
  runId: string;
  place: string;
  onGraded: () => void;
}) {
  const grades = useLoaded(() => source.turnGrades(runId, place), [runId, place]);
  if (!source.isLive && grades.value?.grades.length === 0) return null;
  return (
    <Section
      title="Grades by people"
      hint={source.isLive
        ? (
          <span class="of-keys">
            <kbd>1</kbd> to <kbd>5</kbd> grade the reply, <kbd>c</kbd> goes to the comment,{" "}
            <kbd>s</kbd> saves the form.
          </span>
        )
        : undefined}
    >
      <Shown loaded={grades} what="the grades">
        {(found) => (
          <>
            <GradesOfTurn grades={found.grades} />
            {source.isLive && (
              <GradeForm
                runId={runId}
                place={place}
                grades={found.grades}
                onSaved={grades.reload}
                onGraded={onGraded}
              />
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

/** Saves a grade of this person, and offers to delete it if it is their first one of the turn. */
export async function saveGrade(
  { runId, place, isNew, onSaved }: {
    runId: string;
    place: string;
    isNew: boolean;
    onSaved: () => void;
  },
  value: number,
  texts: Record<string, string | null | undefined> & { author: string },
): Promise<void> {
  const said = Object.entries(texts).map(([field, text]) => [field, text?.trim()])
    .filter(([, text]) => text);
  await source.grade!(runId, place, { value, ...Object.fromEntries(said) });
  const undo = () =>
    tryAction(async () => {
      await source.deleteGrade!(runId, place, texts.author);
      onSaved();
      return "The grade is deleted.";
    });
  showToast("The grade is saved.", isNew ? { label: "Undo", run: undo } : undefined);
  onSaved();
}

/** A grade as the form has it; empty if there is none. */
function toEntry(grade: Grade | undefined) {
  return {
    value: grade ? String(grade.value) : "",
    label: grade?.label ?? "",
    comment: grade?.comment ?? "",
    corrected_reply: grade?.corrected_reply ?? "",
  };
}

type Entry = ReturnType<typeof toEntry>;

function GradeForm({ runId, place, grades, onSaved, onGraded }: {
  runId: string;
  place: string;
  grades: Grade[];
  onSaved: () => void;
  onGraded: () => void;
}) {
  const author = useSignal(readChoice<string>(AUTHOR) ?? "");
  const gradeOf = (name: string) => grades.find((grade) => (grade.author ?? "") === name);
  const entry = useSignal(toEntry(gradeOf(author.value)));
  const enter = (changed: Partial<Entry>) => entry.value = { ...entry.value, ...changed };
  /** Whose grade the form was filled with. */
  const shown = useRef(author.value);
  const { problem, send } = useSending();
  const commentBox = useRef<HTMLTextAreaElement>(null);
  const exact = useRef<HTMLInputElement>(null);
  const labels = [...new Set(grades.flatMap((grade) => grade.label ?? []))];
  const errorId = useId();

  const isGrade = (value: string) => value.trim() !== "" && isUnit(value);

  /** Shows the person's own grade, unless another one was entered: a name may begin with another. */
  function changeAuthor(name: string): void {
    author.value = name;
    const before = toEntry(gradeOf(shown.current));
    if (JSON.stringify(before) !== JSON.stringify(entry.value)) return;
    shown.current = name.trim();
    entry.value = toEntry(gradeOf(shown.current));
  }

  async function save(): Promise<void> {
    if (!isGrade(entry.value.value)) return exact.current?.focus();
    const name = author.value.trim();
    keepChoice(AUTHOR, name);
    await send(async () => {
      const { value, ...texts } = entry.value;
      const said = { ...texts, author: name };
      await saveGrade({ runId, place, isNew: !gradeOf(name), onSaved }, Number(value), said);
      shown.current = name;
    });
  }

  async function grade(value: number): Promise<void> {
    enter({ value: String(value) });
    await save();
    if (!problem.value) onGraded();
  }

  useShortcuts([
    ...STEPS.map(([word, value], index) => ({
      key: String(index + 1),
      does: `Grade: ${word}`,
      run: () => grade(value),
    })),
    { key: "c", does: "Go to the comment of the grade", run: () => commentBox.current?.focus() },
    { key: "s", does: "Save the grade", run: save },
  ]);

  const errorOf = (field: string) =>
    problem.value?.errors.find(({ path }) => path === field)?.message;
  const { value } = entry.value;
  const valueError = isUnit(value) ? errorOf("value") : "Enter a number from 0 to 1.";
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
      <GradeSteps value={value} onChoose={(step) => enter({ value: String(step) })}>
        <UnitInput
          inputRef={exact}
          aria-label="Grade from 0 to 1"
          placeholder="0–1"
          value={value}
          {...(valueError && { "aria-invalid": "true", "aria-describedby": errorId })}
          onInput={(text) => enter({ value: text })}
        />
        {valueError && <span class="field-error" id={errorId}>{valueError}</span>}
      </GradeSteps>
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
          value={entry.value.label}
          onInput={(label) => enter({ label })}
          error={errorOf("label")}
          hint="A category, such as wrong tone"
          suggestions={labels}
        />
      </div>
      <Texts
        label="Comment"
        inputRef={commentBox}
        value={entry.value.comment}
        error={errorOf("comment")}
        onInput={(comment) => enter({ comment })}
      />
      <Texts
        label="What it should have said"
        value={entry.value.corrected_reply}
        error={errorOf("corrected_reply")}
        onInput={(corrected_reply) => enter({ corrected_reply })}
      />
      <div class="start">
        <Button kind="primary" type="submit" disabled={!isGrade(value)}>
          {gradeOf(author.value.trim()) ? "Change the grade" : "Save the grade"}
        </Button>
      </div>
    </form>
  );
}

/** The grades as buttons. `isShort`: they only show their keys. */
export function GradeSteps({ value, isShort = false, onChoose, children }: {
  /** Empty if there is no grade yet. */
  value: string;
  isShort?: boolean;
  onChoose: (step: number) => void;
  children?: ComponentChildren;
}) {
  return (
    <div class="grade-steps" role="group" aria-label="Grade">
      {STEPS.map(([word, step], index) => (
        <Button
          key={word}
          isSmall
          aria-pressed={value !== "" && Number(value) === step}
          {...(isShort && { "aria-label": `${index + 1}: ${word}`, title: word })}
          onClick={() => onChoose(step)}
        >
          {isShort ? index + 1 : (
            <>
              <kbd aria-hidden="true">{index + 1}</kbd> {word}
            </>
          )}
        </Button>
      ))}
      {children}
    </div>
  );
}

function Texts({ label, value, error, inputRef, onInput }: {
  label: string;
  value: string;
  error: string | undefined;
  inputRef?: RefObject<HTMLTextAreaElement | null>;
  onInput: (text: string) => void;
}) {
  return (
    <Field label={label} error={error}>
      {(input) => (
        <textarea
          {...input}
          {...(inputRef && { ref: inputRef })}
          dir="auto"
          rows={2}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
      )}
    </Field>
  );
}

function GradesOfTurn({ grades }: { grades: Grade[] }) {
  if (grades.length === 0) return <p class="muted small">Nobody has graded this turn yet.</p>;
  return (
    <ul class="reasons">
      {grades.map(({ value, author, label, comment, corrected_reply, created_at }) => (
        <li key={author ?? ""}>
          <strong class="number">{formatScore(value)}</strong>
          <span>
            <span dir="auto">{authorName(author)}</span>{" "}
            {label && <span class="badge" dir="auto">{label}</span>}{" "}
            <span class="muted small" title={formatDateTime(created_at)}>
              {formatAge(created_at)}
            </span>
            {comment && <div class="comment" dir="auto">{comment}</div>}
            {corrected_reply && (
              <div class="comment" dir="auto">
                <span class="muted small">It should have said:</span> {corrected_reply}
              </div>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Grades without an author share one name. */
export function authorName(author: string | null): string {
  return author ?? "somebody";
}
