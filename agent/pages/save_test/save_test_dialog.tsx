import { useState } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { CopyButton } from "../../../shared/pages/components/copy_button.tsx";
import { Dialog, differs } from "../../../shared/pages/components/dialog.tsx";
import { Checkbox, Field, TextField } from "../../../shared/pages/components/field.tsx";
import { saveFile } from "../../../shared/pages/save_file.ts";
import { AddToDataset } from "./add_to_dataset.tsx";
import { type Conversation, shownTurns } from "../conversation/conversation.ts";
import { modelName } from "../model_state.ts";
import {
  BETTER,
  type DraftTest,
  draftTest,
  type DraftTurn,
  slugOf,
  toScenario,
} from "./test_scenario.ts";

const NO_GRADE =
  " The better answer is what later replies are scored against; a grade belongs to " +
  "a reply of a run, and is given in the dashboard.";

/** The conversation as a test for assay-eval: edited here, saved as a file or added to a dataset. */
export function SaveTestDialog({ conversation, onClose }: {
  conversation: Conversation;
  onClose: () => void;
}) {
  const hasBetter = shownTurns(conversation).some(({ better }) => better !== undefined);
  const [column, setColumn] = useState(hasBetter ? BETTER : 0);
  const [test, setTest] = useState<DraftTest>(() => draftTest(conversation, column));
  /** What the person has not changed, or has outside of this dialog. */
  const [kept, setKept] = useState(test);
  const [isSaved, setSaved] = useState(false);
  const { models } = conversation;
  const canSave = test.id.trim() !== "" && test.turns.some(({ isIncluded }) => isIncluded);
  const fileName = `${slugOf(test.id)}.json`;
  const command = `assay-eval run ${fileName} --endpoint ${globalThis.location.origin} --model ${
    models[Math.max(0, column)] ?? ""
  }`;

  function changeTurn(id: string, fields: Partial<DraftTurn>): void {
    setTest({
      ...test,
      turns: test.turns.map((turn) => turn.id === id ? { ...turn, ...fields } : turn),
    });
  }

  function save(event: Event): void {
    event.preventDefault();
    if (!canSave) return;
    saveFile(fileName, `${JSON.stringify(toScenario(test), null, 2)}\n`, "application/json");
    setKept(test);
    setSaved(true);
  }

  const hasEdits = differs(test, kept);
  return (
    <Dialog title="Save as test" isWide hasEdits={hasEdits} onClose={onClose}>
      <form class="dialog-body-form" onSubmit={save}>
        <p class="muted small">
          The conversation becomes a scenario of assay-eval: your messages, with the replies as
          references for later replies. Edit them before you save.
        </p>
        <div class="two-fields">
          <TextField
            label="Scenario id"
            error={test.id.trim() ? undefined : "Give the scenario an id."}
            maxLength={256}
            value={test.id}
            onInput={(id) => setTest({ ...test, id })}
          />
          <TextField
            label="Description"
            dir="auto"
            value={test.description}
            onInput={(description) => setTest({ ...test, description })}
          />
        </div>
        <TextField
          label="System prompt"
          hint="Sent with every conversation of this scenario; empty: the endpoint's own"
          dir="auto"
          rows={2}
          value={test.systemPrompt}
          onInput={(systemPrompt) => setTest({ ...test, systemPrompt })}
        />
        {models.length > 1 && (
          <Field
            label="Reference replies"
            hint={`Choosing another model discards your edits.${hasBetter ? NO_GRADE : ""}`}
          >
            {(input) => (
              <select
                {...input}
                value={column}
                onChange={(event) => {
                  const chosen = Number(event.currentTarget.value);
                  const next = draftTest(conversation, chosen);
                  setColumn(chosen);
                  setTest(next);
                  setKept(next);
                }}
              >
                {hasBetter && <option value={BETTER}>the better one of each turn</option>}
                {models.map((model, index) => (
                  <option key={index} value={index}>{modelName(model)}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {test.turns.map((turn) => (
          <TurnEditor
            key={turn.id}
            turn={turn}
            onChange={(fields) => changeTurn(turn.id, fields)}
          />
        ))}
        {isSaved && (
          <div class="notice" role="status">
            <div>
              <div>Saved as {fileName}. Run it with:</div>
              <code>{command}</code>
            </div>
            <CopyButton text={command} label="Copy command" />
          </div>
        )}
        <AddToDataset test={canSave ? test : undefined} onHandedOver={() => setKept(test)} />
        <div class="dialog-actions">
          <Button onClick={onClose}>{hasEdits ? "Cancel" : "Close"}</Button>
          <Button kind="primary" type="submit" icon="download" disabled={!canSave}>
            Save as file
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function describeCall({ name, args }: DraftTurn["tools"][number]): string {
  return `${name}(${JSON.stringify(args).slice(1, -1)})`;
}

function TurnEditor({ turn, onChange }: {
  turn: DraftTurn;
  onChange: (fields: Partial<DraftTurn>) => void;
}) {
  const { id, userMessage, referenceReply, tools, expectsTools, isIncluded } = turn;
  return (
    <fieldset class="card test-turn">
      <legend class="visually-hidden">Turn {id}</legend>
      <Checkbox
        label={`Turn ${id}`}
        checked={isIncluded}
        onChange={(isIncluded) => onChange({ isIncluded })}
      />
      {isIncluded && (
        <div class="two-fields">
          <TextField
            label="User message"
            dir="auto"
            rows={4}
            value={userMessage}
            onInput={(userMessage) => onChange({ userMessage })}
          />
          <TextField
            label="Reference reply"
            dir="auto"
            rows={4}
            value={referenceReply}
            onInput={(referenceReply) => onChange({ referenceReply })}
          />
        </div>
      )}
      {isIncluded && tools.length > 0 && (
        <Checkbox
          label={`Expect the same tool calls: ${tools.map(describeCall).join(", ")}`}
          checked={expectsTools}
          onChange={(expectsTools) => onChange({ expectsTools })}
        />
      )}
    </fieldset>
  );
}
