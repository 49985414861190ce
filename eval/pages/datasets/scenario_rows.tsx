import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useRowFocus } from "../../../shared/pages/components/data_table.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { asText } from "../../../shared/service/fields.ts";
import type { Scenario } from "../../test/scenario.ts";

type Turn = Scenario["interactions"][number];

/**
 * Scenarios by id and first question; each opens to its turns with what is expected of them. If they
 * cannot be changed, it is a preview, and the first is open.
 */
export function ScenarioRows({ scenarios, onEdit }: {
  scenarios: Scenario[];
  /** Called with the row. */
  onEdit?: (row: number) => void;
}) {
  const rows = useRowFocus<HTMLDivElement>("details");
  return (
    <div class="changes scenarios" ref={rows}>
      {scenarios.map((scenario, index) => (
        <ScenarioRow
          key={scenario.id}
          scenario={scenario}
          isOpen={scenarios.length === 1 || (!onEdit && index === 0)}
          onEdit={onEdit && (() => onEdit(index))}
        />
      ))}
    </div>
  );
}

function ScenarioRow({ scenario, isOpen, onEdit }: {
  scenario: Scenario;
  isOpen: boolean;
  onEdit: (() => void) | undefined;
}) {
  const opened = useSignal(isOpen);
  const { id, description, interactions } = scenario;
  const systemPrompt = asText(scenario.system_prompt);
  return (
    <details
      open={opened.value}
      onToggle={({ currentTarget: { open } }) => opened.value = open}
    >
      <summary>
        <span class="name excerpt" dir="auto">{id}</span>
        <span class="excerpt muted" dir="auto">
          {description || interactions[0]?.user_message}
        </span>
        <span class="muted small">{formatNumberOf(interactions.length, "turn")}</span>
      </summary>
      {opened.value && (
        <div class="change">
          {description && <p class="muted" dir="auto">{description}</p>}
          {systemPrompt && <p class="muted" dir="auto">System prompt: {systemPrompt}</p>}
          <Expected of={{ checks: scenario.checks }} />
          <ol class="transcript" tabIndex={0} aria-label={`Turns of ${id}`}>
            {interactions.map((turn, index) => (
              <li key={index}>
                <div class="said user" dir="auto">{turn.user_message}</div>
                {turn.reference_reply
                  ? <div class="said reply" dir="auto">{turn.reference_reply}</div>
                  : <span class="muted small">no reference reply</span>}
                <Expected of={turn} />
              </li>
            ))}
          </ol>
          {onEdit && (
            <div class="row start-row">
              <Button isSmall icon="edit" onClick={onEdit} aria-label={`Edit ${id}`}>Edit</Button>
            </div>
          )}
        </div>
      )}
    </details>
  );
}

/** Expected labels, checks and tools of a turn, or the checks of a scenario, in short. */
function Expected({ of: { reference_metadata = {}, checks = [], reference_tools = [] } }: {
  of: Partial<Pick<Turn, "reference_metadata" | "checks" | "reference_tools">>;
}) {
  const texts = [
    ...Object.entries(reference_metadata).map(([key, value]) => `${key}: ${shortly(value)}`),
    ...checks.map((check) =>
      check.name ??
        `${check.type.replaceAll("_", " ")} ${"value" in check ? shortly(check.value) : ""}`
    ),
    ...reference_tools.map(({ name }) => `calls ${name}`),
  ];
  if (texts.length === 0) return null;
  return (
    <span class="row start-row">
      {texts.map((text, index) => <span key={index} class="badge" dir="auto">{text}</span>)}
    </span>
  );
}

const MOST_LETTERS = 60;

function shortly(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
}
