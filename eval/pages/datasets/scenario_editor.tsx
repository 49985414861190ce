import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { z } from "zod";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { asText } from "../../../shared/service/fields.ts";
import type { Interaction, Scenario } from "../../test/scenario.ts";
import { ChecksFields } from "./checks_fields.tsx";
import { freeId } from "./dataset_content.ts";

/** A scenario and a turn as they are sent; the service checks them. */
export type DraftScenario = z.input<typeof Scenario>;
type DraftTurn = z.input<typeof Interaction>;

/** Why a scenario cannot be saved yet, beside the button. */
export const CORRECT_JSON = "Correct the JSON first.";

/**
 * The fields of a scenario. What has no field of its own can be changed as JSON. `jsonError` is what
 * is wrong with that: until it is corrected, `scenario` is without it, and the fields wait, because
 * the JSON would replace what they say.
 */
export function ScenarioEditor({ scenario, jsonError, onChange }: {
  scenario: DraftScenario;
  jsonError: Signal<string | undefined>;
  onChange: (scenario: DraftScenario) => void;
}) {
  const { interactions } = scenario;
  const setTurns = (turns: DraftTurn[]) => onChange({ ...scenario, interactions: turns });
  return (
    <>
      <fieldset class="stack" disabled={Boolean(jsonError.value)}>
        <div class="row">
          <TextField
            dir="auto"
            label="Id"
            value={scenario.id}
            onInput={(id) => onChange({ ...scenario, id })}
          />
          <TextField
            dir="auto"
            label="Description"
            value={scenario.description ?? ""}
            onInput={(text) => onChange(withText(scenario, { description: text }))}
          />
        </div>
        <TextField
          dir="auto"
          label="System prompt"
          rows={3}
          value={asText(scenario.system_prompt) ?? ""}
          onInput={(text) => onChange(withText(scenario, { system_prompt: text }))}
        />
        {interactions.map((turn, index) => (
          <TurnFields
            key={index}
            turn={turn}
            number={index + 1}
            onChange={(next) => setTurns(interactions.with(index, next))}
            onRemove={interactions.length > 1
              ? () => setTurns(interactions.toSpliced(index, 1))
              : undefined}
          />
        ))}
        <div class="row start-row">
          <Button
            isSmall
            icon="plus"
            onClick={() => setTurns(withNewTurn(interactions))}
          >
            Add a turn
          </Button>
        </div>
        <ChecksFields
          checks={scenario.checks ?? []}
          onChange={(checks) => onChange(withChecks(scenario, checks))}
        />
      </fieldset>
      <AsJson scenario={scenario} error={jsonError} onChange={onChange} />
    </>
  );
}

function withChecks(
  { checks: _, ...others }: DraftScenario,
  checks: NonNullable<DraftScenario["checks"]>,
): DraftScenario {
  return checks.length > 0 ? { ...others, checks } : others;
}

/** The id of the new turn is its number, unless another turn has that: one may have been removed. */
export function withNewTurn(turns: DraftTurn[]): DraftTurn[] {
  const id = freeId(String(turns.length + 1), new Set(turns.map(({ id }) => id)));
  return [...turns, { id, user_message: "" }];
}

function TurnFields({ turn, number, onChange, onRemove }: {
  turn: DraftTurn;
  number: number;
  onChange: (turn: DraftTurn) => void;
  onRemove: (() => void) | undefined;
}) {
  return (
    <fieldset class="turn-fields">
      <legend class="section-head">
        <span>Turn {number}</span>
        {onRemove && (
          <IconButton icon="trash" isSmall label={`Remove turn ${number}`} onClick={onRemove} />
        )}
      </legend>
      <div class="row">
        <TextField
          dir="auto"
          label="User message"
          rows={3}
          value={turn.user_message}
          onInput={(user_message) => onChange({ ...turn, user_message })}
        />
        <TextField
          dir="auto"
          label="Reference reply"
          rows={3}
          value={turn.reference_reply ?? ""}
          onInput={(text) => onChange(withReference(turn, text))}
        />
      </div>
    </fieldset>
  );
}

/** A turn without a reference is not scored against an empty one. */
function withReference(turn: DraftTurn, text: string): DraftTurn {
  const { reference_reply: _, ...others } = turn;
  return text === "" ? others : { ...turn, reference_reply: text };
}

/** An empty text counts as missing. */
function withText(
  scenario: DraftScenario,
  text: Pick<DraftScenario, "description" | "system_prompt">,
): DraftScenario {
  const changed = Object.entries({ ...scenario, ...text });
  return Object.fromEntries(
    changed.filter(([name, value]) => !(name in text) || value !== ""),
  ) as DraftScenario;
}

function AsJson({ scenario, error, onChange }: {
  scenario: DraftScenario;
  error: Signal<string | undefined>;
  onChange: (scenario: DraftScenario) => void;
}) {
  const text = useSignal("");
  useEffect(() => {
    if (!error.value) text.value = JSON.stringify(scenario, null, 2);
  }, [scenario]);
  return (
    <details class="as-table">
      <summary>Labels, checks and tools, as JSON</summary>
      <Field label="Scenario as JSON" error={error.value}>
        {(attributes) => (
          <textarea
            {...attributes}
            class="input batch"
            rows={12}
            spellcheck={false}
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
              const read = readScenario(text.value);
              error.value = "reason" in read ? read.reason : undefined;
              if ("scenario" in read) onChange(read.scenario);
            }}
          />
        )}
      </Field>
    </details>
  );
}

/** One scenario of a JSON text; the service checks the rest. */
export function readScenario(text: string): { scenario: DraftScenario } | { reason: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (isScenario(value)) return { scenario: value };
    return { reason: "It must be one scenario: an id, and interactions with a user_message each." };
  } catch (error) {
    return { reason: `This is not JSON: ${(error as Error).message}` };
  }
}

function isScenario(value: unknown): value is DraftScenario {
  const { id, description = "", interactions } = Object(value) as Record<string, unknown>;
  return typeof id === "string" && typeof description === "string" &&
    Array.isArray(interactions) && interactions.length > 0 &&
    interactions.every((turn) => {
      const { id, user_message, reference_reply = "" } = Object(turn) as Record<string, unknown>;
      return [id, user_message, reference_reply].every((text) => typeof text === "string");
    });
}
