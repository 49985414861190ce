import type { Ref } from "preact";

interface UnitInputProps {
  id?: string;
  inputRef?: Ref<HTMLInputElement>;
  /** Without it, the field has what was typed since `defaultValue`. */
  value?: string;
  defaultValue?: string;
  placeholder?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
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
