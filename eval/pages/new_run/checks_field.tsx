import { useId } from "preact/hooks";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import { Section } from "../parts/section.tsx";
import { Select } from "../parts/fields.tsx";
import { checkError, draft, type DraftCheck, isNumeric } from "./draft.ts";

const TYPES: [type: string, label: string][] = [
  ["contains", "contains"],
  ["not_contains", "does not contain"],
  ["equals", "is exactly"],
  ["starts_with", "starts with"],
  ["regex", "matches the pattern"],
  ["max_words", "has at most … words"],
  ["max_chars", "has at most … characters"],
  ["max_latency_ms", "comes within … ms"],
  ["language", "is in the language (en, de, …)"],
  ["judge", "meets the criterion (by the judge)"],
];

/** What every reply must meet. Further kinds of checks are written into the batch. */
export function Checks({ errorOf }: { errorOf: (check: DraftCheck) => string | undefined }) {
  const id = useId();
  const checks = draft.checks.value;
  const change = (index: number, changes: Partial<DraftCheck>) => {
    draft.checks.value = checks.map((check, at) => at === index ? { ...check, ...changes } : check);
  };
  return (
    <Section
      title="Checks"
      hint="Of every reply, beside those in the batch, which takes all kinds as JSON"
      actions={
        <Button
          isSmall
          icon="plus"
          onClick={() =>
            draft.checks.value = [...checks, { type: "contains", value: "", isRequired: false }]}
        >
          Add a check
        </Button>
      }
    >
      {checks.map((check, index) => {
        const { type, value, isRequired } = check;
        const error = checkError(check) ?? errorOf(check);
        return (
          <div key={index} class="check-row" role="group" aria-label={`Check ${index + 1}`}>
            <Select
              aria-label="The reply"
              options={TYPES}
              value={type}
              onChoose={(type) => change(index, { type })}
            />
            <input
              class="input"
              aria-label="Value"
              inputMode={isNumeric(type) ? "numeric" : "text"}
              {...(error && { "aria-invalid": "true", "aria-describedby": `${id}-${index}` })}
              value={value}
              onInput={({ currentTarget }) => change(index, { value: currentTarget.value })}
            />
            <label class="prefer">
              <input
                type="checkbox"
                checked={isRequired}
                onChange={({ currentTarget }) =>
                  change(index, { isRequired: currentTarget.checked })}
              />
              required
            </label>
            <IconButton
              icon="trash"
              isSmall
              label={`Remove check ${index + 1}`}
              onClick={() => draft.checks.value = checks.toSpliced(index, 1)}
            />
            {error && <div class="field-error" id={`${id}-${index}`}>{error}</div>}
          </div>
        );
      })}
    </Section>
  );
}
