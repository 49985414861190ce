import type { ComponentChildren, TextareaHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

/** What a field's input needs so that its label, hint and error belong to it. */
export interface InputAttributes {
  id: string;
  class: string;
  "aria-describedby"?: string;
  "aria-invalid"?: "true";
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
}

/** A label above an input; below it what may be entered, and what is wrong with what was. */
export function Field({ label, hint, error, children }: FieldProps & {
  children: (input: InputAttributes) => ComponentChildren;
}) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        class: "input",
        ...(described && { "aria-describedby": described }),
        ...(error && { "aria-invalid": "true" as const }),
      })}
      {hint && <div class="field-hint" id={`${id}-hint`}>{hint}</div>}
      {error && <div class="field-error" id={`${id}-error`}>{error}</div>}
    </div>
  );
}

interface TextFieldProps extends FieldProps, Omit<TextareaHTMLAttributes, "label" | "onInput"> {
  /** Of the input, such as `password`. */
  type?: string;
  onInput: (value: string) => void;
}

/** A field for a text: one line, or as many as `rows` shows. Takes the attributes of an input. */
export function TextField({ label, hint, error, onInput, ...more }: TextFieldProps) {
  const Input = (more.rows ? "textarea" : "input") as "textarea";
  return (
    <Field label={label} hint={hint} error={error}>
      {(input) => (
        <Input
          {...input}
          {...more}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A box to tick, with its label and an explanation. */
export function Checkbox({ label, hint, checked, onChange }: {
  label: string;
  hint?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        {...(hint && { "aria-describedby": `${id}-hint` })}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint && <div class="field-hint" id={`${id}-hint`}>{hint}</div>}
      </div>
    </div>
  );
}
