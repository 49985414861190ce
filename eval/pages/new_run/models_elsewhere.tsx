import { useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { asFields, asText } from "../../../shared/fields.ts";
import { draft, type ModelElsewhere } from "./draft.ts";
import { ModelField } from "./model_field.tsx";

/** Models at other endpoints, which run side by side with the first. */
export function ModelsElsewhere({ errorOf }: {
  /** What is wrong with a field of one of them. */
  errorOf: (index: number, field: "endpoint" | "model_id") => string | undefined;
}) {
  const root = useRef<HTMLDivElement>(null);
  const all = draft.elsewhere;
  /** The endpoint of the last one, once it is drawn; the button if there is none. */
  const focusLast = () =>
    setTimeout(() => {
      const last = "fieldset:last-of-type input, .start-row:first-child button";
      root.current?.querySelector<HTMLElement>(last)?.focus();
    });
  return (
    <div class="stack" ref={root}>
      {all.value.map((one, index) => (
        <ModelFields
          key={index}
          one={one}
          number={index + 2}
          errorOf={(field) => errorOf(index, field)}
          onChange={(fields) =>
            all.value = all.value.with(index, { ...all.value[index]!, ...fields })}
          onRemove={() => {
            all.value = all.value.toSpliced(index, 1);
            focusLast();
          }}
        />
      ))}
      <div class="row start-row">
        <Button
          isSmall
          icon="plus"
          onClick={() => {
            all.value = [...all.value, { endpoint: "", model: "" }];
            focusLast();
          }}
        >
          Add a model at another endpoint
        </Button>
      </div>
    </div>
  );
}

function ModelFields({ one: { endpoint, model }, number, errorOf, onChange, onRemove }: {
  one: ModelElsewhere;
  number: number;
  errorOf: (field: "endpoint" | "model_id") => string | undefined;
  onChange: (fields: Partial<ModelElsewhere>) => void;
  onRemove: () => void;
}) {
  return (
    <fieldset class="turn-fields">
      <legend class="section-head">
        <span>At another endpoint</span>
        <Button
          kind="quiet"
          isSmall
          icon="trash"
          aria-label={`Remove the model at endpoint ${number}`}
          onClick={onRemove}
        />
      </legend>
      <div class="row">
        <Field label={`Endpoint ${number}`} error={errorOf("endpoint")}>
          {(input) => (
            <input
              {...input}
              inputMode="url"
              value={endpoint}
              onInput={({ currentTarget }) => onChange({ endpoint: currentTarget.value })}
            />
          )}
        </Field>
        <ModelField
          label={`Model ${number}`}
          endpoint={endpoint.trim()}
          model={model}
          error={errorOf("model_id")}
          onInput={(model) => onChange({ model })}
        />
      </div>
    </fieldset>
  );
}

/** The models of a pasted request that names each with its endpoint: the form has no fields for that. */
export function PastedTargets({ targets }: { targets: unknown[] }) {
  return (
    <div class="field">
      <span>Models of the pasted request</span>
      <ul class="reasons">
        {targets.map(asFields).map(({ name, model_id, endpoint }, index) => (
          <li key={index} dir="auto">
            <span>
              {asText(name) ?? asText(model_id) ?? "unnamed"}{" "}
              <span class="muted small">{asText(endpoint)}</span>
            </span>
          </li>
        ))}
      </ul>
      <span class="field-hint">They run side by side as a group</span>
    </div>
  );
}
