import type { Signal } from "@preact/signals";
import type { ComponentChildren, Ref } from "preact";
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

/** A text with its label: one line, or several if it has `rows`. */
export function TextField({ label, hint, error, suggestions, onInput, ...more }: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  value: string;
  rows?: number;
  autocomplete?: "off";
  dir?: "auto";
  inputMode?: "url" | "decimal";
  disabled?: boolean;
  readOnly?: boolean;
  /** Offered below the field. */
  suggestions?: string[];
  onInput: (text: string) => void;
}) {
  const id = useId();
  const take = (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value);
  return (
    <Field label={label} hint={hint} error={error}>
      {(input) => (
        <>
          {more.rows
            ? <textarea {...input} {...more} onInput={take} />
            : <input {...input} {...more} list={suggestions && id} onInput={take} />}
          {suggestions && (
            <datalist id={id}>
              {suggestions.map((text) => <option key={text} value={text} />)}
            </datalist>
          )}
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
