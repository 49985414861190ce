import type { z } from "zod";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import type { Checks } from "../../test/checks.ts";
import { Select } from "../parts/fields.tsx";

type DraftCheck = z.input<typeof Checks>[number];

const TYPES: Record<string, string> = {
  contains: "contains",
  not_contains: "does not contain",
  equals: "is exactly",
  starts_with: "starts with",
  regex: "matches the pattern",
  max_words: "has at most … words",
  max_chars: "has at most … characters",
  max_latency_ms: "comes within … ms",
  language: "is in the language (en, de, …)",
  judge: "meets the criterion (by the judge)",
};

/** What every reply must meet. Checks of further kinds stay as they are, and are edited as JSON. */
export function ChecksFields({ checks, onChange }: {
  checks: DraftCheck[];
  onChange: (checks: DraftCheck[]) => void;
}) {
  /** The service checks what a person enters. */
  const change = (index: number, changes: Record<string, unknown>) =>
    onChange(checks.with(index, { ...checks[index], ...changes } as DraftCheck));
  return (
    <>
      {checks.map((check, index) => {
        const { type, value, required = false } = check as DraftCheck & { value?: unknown };
        if (!Object.hasOwn(TYPES, type)) return null;
        return (
          <div key={index} class="check-row" role="group" aria-label={`Check ${index + 1}`}>
            <Select
              aria-label="The reply"
              options={Object.entries(TYPES)}
              value={type}
              onChoose={(type) => change(index, { type, value: valueOf(type, String(value)) })}
            />
            <input
              class="input"
              aria-label="Value"
              value={String(value ?? "")}
              onInput={({ currentTarget }) =>
                change(index, { value: valueOf(type, currentTarget.value) })}
            />
            <label class="prefer">
              <input
                type="checkbox"
                checked={required}
                onChange={({ currentTarget }) =>
                  change(index, { required: currentTarget.checked || undefined })}
              />
              required
            </label>
            <IconButton
              icon="trash"
              isSmall
              label={`Remove check ${index + 1}`}
              onClick={() => onChange(checks.toSpliced(index, 1))}
            />
          </div>
        );
      })}
      <Button
        isSmall
        icon="plus"
        onClick={() => onChange([...checks, { type: "contains", value: "" }])}
      >
        Add a check of every reply
      </Button>
    </>
  );
}

function valueOf(type: string, text: string): string | number {
  return type.startsWith("max_") && text.trim() !== "" && Number(text) >= 0 ? Number(text) : text;
}
