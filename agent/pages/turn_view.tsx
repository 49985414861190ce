import { Component } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../shared/pages/components/button.tsx";
import { lazy } from "../../shared/pages/components/lazy.tsx";
import { CopyButton } from "../../shared/pages/components/copy_button.tsx";
import { Attachments } from "./attachments.tsx";
import { AnswerView, focusTranscript } from "./answer_view.tsx";
import { editMessage, isAnswering } from "./answering.ts";
import { answerText, type Turn, withBetter, withShown } from "./conversation/conversation.ts";
import {
  current,
  saveConversation,
  updateConversation,
} from "./conversation/conversation_state.ts";
import { modelName } from "./model_state.ts";

interface TurnProps {
  turn: Turn;
  /** The ids of the branches at this place, separated by blanks, so that they can be compared. */
  branches: string;
  isLast: boolean;
}

/** A message and its answers. Drawn again only if something of it has changed. */
export class TurnView extends Component<TurnProps> {
  override shouldComponentUpdate(next: TurnProps): boolean {
    const { turn, branches, isLast } = this.props;
    return next.turn !== turn || next.branches !== branches || next.isLast !== isLast;
  }

  override render({ turn, branches, isLast }: TurnProps) {
    return (
      <article class="turn">
        <h2 class="visually-hidden">{turn.text.slice(0, 80)}</h2>
        <Question turn={turn} branches={branches.split(" ")} />
        <div class={turn.answers.length > 1 ? "answers side-by-side" : "answers"}>
          {turn.answers.map((answer, column) => (
            <AnswerView
              key={column}
              turn={turn}
              column={column}
              answer={answer}
              isLast={isLast}
            />
          ))}
        </div>
        {turn.answers.length === 2 && turn.answers.every(({ status }) => status === "done") && (
          <SideBySide turn={turn} />
        )}
      </article>
    );
  }
}

const DiffText = lazy(() =>
  import("../../shared/pages/components/diff_text.tsx").then((loaded) => loaded.DiffText)
);

/** Which of two answers is better, and in which words they differ. */
function SideBySide({ turn }: { turn: Turn }) {
  const [isCompared, setCompared] = useState(false);
  const [before, after] = turn.answers.map(answerText) as [string, string];
  function choose(column: number): void {
    const { id } = current.value!;
    const better = turn.better === column ? undefined : column;
    updateConversation(id, (now) => withBetter(now, { turnId: turn.id, better }));
    void saveConversation(id);
  }
  return (
    <>
      <div class="better" role="group" aria-label="Which answer is better?">
        <span class="muted small">Better:</span>
        {turn.answers.map(({ model }, column) => (
          <Button
            key={column}
            isSmall
            aria-pressed={turn.better === column}
            {...(turn.better === column && { icon: "check" as const })}
            onClick={() => choose(column)}
          >
            {modelName(model)}
          </Button>
        ))}
        <span class="spacer" />
        <Button
          kind="quiet"
          isSmall
          icon="columns"
          aria-expanded={isCompared}
          onClick={() => setCompared(!isCompared)}
        >
          Differences
        </Button>
      </div>
      {isCompared && (
        <div class="answers side-by-side differences" role="group" aria-label="Differences">
          <DiffText before={before} after={after} side="before" />
          <DiffText before={before} after={after} side="after" />
        </div>
      )}
    </>
  );
}

function Question({ turn, branches }: { turn: Turn; branches: string[] }) {
  const [isEditing, setEditing] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const hasEdited = useRef(false);
  useLayoutEffect(() => {
    if (!isEditing && hasEdited.current) {
      root.current?.querySelector<HTMLElement>("button[aria-label='Edit message']")?.focus();
    }
    hasEdited.current = isEditing;
  }, [isEditing]);
  if (isEditing) return <QuestionEditor turn={turn} onClose={() => setEditing(false)} />;
  return (
    <div class="question" ref={root}>
      <Attachments of={turn.attachments} />
      <div class="question-text" dir="auto">{turn.text}</div>
      <div class="actions">
        {branches.length > 1 && <BranchSwitch turn={turn} branches={branches} />}
        <CopyButton text={turn.text} label="Copy message" />
        <IconButton isSmall icon="edit" label="Edit message" onClick={() => setEditing(true)} />
      </div>
    </div>
  );
}

/** The button that led to the next branch: it gets the focus there. */
let moved: { to: string; by: -1 | 1 } | undefined;

/** Goes through the branches: `‹ 2 / 3 ›`. */
function BranchSwitch({ turn, branches }: { turn: Turn; branches: string[] }) {
  const at = branches.indexOf(turn.id);
  const root = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (moved?.to !== turn.id) return;
    const [left, right] = root.current!.querySelectorAll("button");
    const [same, other] = moved.by < 0 ? [left, right] : [right, left];
    (same?.disabled ? other : same)?.focus();
    moved = undefined;
  }, []);
  function show(by: -1 | 1): void {
    const { id, turns } = current.value!;
    const next = turns[branches[at + by]!];
    if (!next) return;
    moved = { to: next.id, by };
    updateConversation(id, (now) => withShown(now, next));
  }
  const step = (by: -1 | 1) => (
    <IconButton
      isSmall
      icon={by < 0 ? "left" : "right"}
      label={by < 0 ? "Previous branch" : "Next branch"}
      disabled={!branches[at + by]}
      onClick={() => show(by)}
    />
  );
  return (
    <span class="branches" role="group" aria-label="Branches" ref={root}>
      {step(-1)}
      <span class="number">{at + 1} / {branches.length}</span>
      {step(1)}
    </span>
  );
}

function QuestionEditor({ turn, onClose }: { turn: Turn; onClose: () => void }) {
  const [text, setText] = useState(turn.text);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => box.current?.focus(), []); // `autofocus` works once per page
  const canSend = text.trim() !== "" && !isAnswering.value;
  return (
    <form
      class="question-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (!canSend) return;
        onClose();
        editMessage(turn, text.trim());
        focusTranscript();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <textarea
        ref={box}
        class="input"
        dir="auto"
        rows={3}
        aria-label="Edit message"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="dialog-actions">
        <span class="field-hint">The conversation so far stays as another branch.</span>
        <Button isSmall onClick={onClose}>Cancel</Button>
        <Button isSmall kind="primary" type="submit" disabled={!canSend}>Send</Button>
      </div>
    </form>
  );
}
