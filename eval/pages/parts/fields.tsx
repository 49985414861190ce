import type { Signal } from "@preact/signals";
import type { Ref } from "preact";
import { useId } from "preact/hooks";
import { Field, type InputAttributes } from "../../../shared/pages/components/field.tsx";

/** A list to choose one value from. */
export function Select({ options, onChoose, ...attributes }: Partial<InputAttributes> & {
  options: readonly (readonly [value: string, label: string])[];
  value: string;
  "aria-label"?: string;
  onChoose: (value: string) => void;
}) {
  return (
    <select
      class="input auto"
      {...attributes}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {options.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
    </select>
  );
}

/** A text of one line, with others that are offered below it. */
export function SuggestField({ label, hint, error, suggestions, onInput, ...more }: {
  label: string;
  hint: string;
  error: string | undefined;
  suggestions: string[];
  value: string;
  autocomplete?: "off";
  dir?: "auto";
  onInput: (text: string) => void;
}) {
  const id = useId();
  return (
    <Field label={label} hint={hint} error={error}>
      {(input) => (
        <>
          <input
            {...input}
            {...more}
            list={id}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <datalist id={id}>
            {suggestions.map((text) => <option key={text} value={text} />)}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** The value of a field that a signal keeps. */
export function bound(text: Signal<string>) {
  return { value: text.value, onInput: (entered: string) => void (text.value = entered) };
}

interface UnitInputProps extends Partial<Omit<InputAttributes, "aria-invalid">> {
  inputRef?: Ref<HTMLInputElement>;
  /** Without it, the field has what was typed since `defaultValue`. */
  value?: string;
  defaultValue?: string;
  placeholder?: string;
  "aria-label"?: string;
  "aria-invalid"?: boolean | "true";
  onInput: (text: string) => void;
  /** When the person leaves the field. */
  onChange?: (text: string) => void;
}

/**
 * A field for a number from 0 to 1. Not of the type `number`: with a comma, `0,4` is 4 in Chromium
 * and nothing in Firefox there.
 */
export function UnitInput({ inputRef, onInput, onChange, ...attributes }: UnitInputProps) {
  return (
    <input
      {...attributes}
      ref={inputRef ?? null}
      class="input bound"
      inputMode="decimal"
      autocomplete="off"
      onInput={({ currentTarget }) => onInput(readText(currentTarget))}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
    />
  );
}

/** What was entered, with a point in place of a comma, also in the field. */
function readText(field: HTMLInputElement): string {
  const at = field.selectionStart;
  if (field.value.includes(",")) {
    field.value = field.value.replace(",", ".");
    field.setSelectionRange(at, at);
  }
  return field.value;
}

/** Whether a text is a number from 0 to 1, or empty. */
export function isUnit(text: string): boolean {
  return Number(text) >= 0 && Number(text) <= 1;
}
