import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { useOpened } from "../../../shared/pages/components/menu.tsx";
import { findOptions, useOptionList } from "../../../shared/pages/components/option_list.tsx";
import { asFields, asText } from "../../../shared/service/fields.ts";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { listModels } from "../api.ts";
import { useLoaded } from "../loaded.tsx";
import { explainShutdown } from "../../ask/shutdown.ts";
import { draft, type ModelElsewhere } from "./draft.ts";

/** A model's id: any text, with the models that the endpoint lists below it. */
export function ModelField({ label = "Model", endpoint, model, error, onInput }: {
  label?: string;
  endpoint: string;
  model: string;
  error: string | undefined;
  onInput: (model: string) => void;
}) {
  const root = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useOpened(root);
  const isAddress = /^https?:\/\/[^/]/.test(endpoint) && URL.canParse(endpoint);
  const isAsked = useSignal(false); // set by the focus: before, the endpoint may be half typed
  const models = useLoaded(
    () => isAsked.value && isAddress ? listModels(endpoint) : Promise.resolve([]),
    [isAsked.value && isAddress && endpoint],
  );
  const listed = (models.value ?? []).map(({ id, name }) => ({ id, name: name ?? id }));
  const isListed = listed.some(({ id }) => id === model);
  const options = findOptions(listed, isListed ? "" : model); // after a choice, all are offered
  const isShown = isOpen && options.length > 0;
  const { input, list, restart } = useOptionList(options, {
    label: "Models",
    value: model,
    first: -1, // what was typed stays, unless one is chosen
    isOpen: isShown,
    onChoose: (id) => {
      setOpen(false);
      onInput(id);
    },
    onClose: () => setOpen(false),
  });
  const chosen = models.value?.find(({ id }) => id === model);
  const shutdown = chosen && explainShutdown(chosen);
  const hint = shutdown
    ? <strong>{shutdown[0]!.toUpperCase() + shutdown.slice(1)}</strong>
    : models.problem
    ? "The endpoint cannot be reached, so its models are not listed."
    : listed.length > 0
    ? `The endpoint lists ${formatNumberOf(listed.length, "model")}.`
    : "The id that the endpoint knows the model by";
  const open = () => {
    isAsked.value = true;
    setOpen(true);
  };
  return (
    <Field label={label} error={error} hint={hint}>
      {(attributes) => (
        <div class="picker" ref={root}>
          <input
            {...attributes}
            {...input}
            value={model}
            onFocus={open}
            onClick={open}
            onInput={({ currentTarget }) => {
              open();
              restart();
              onInput(currentTarget.value);
            }}
          />
          {isShown && <div class="picker-panel">{list}</div>}
        </div>
      )}
    </Field>
  );
}

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
        <IconButton
          icon="trash"
          isSmall
          label={`Remove the model at endpoint ${number}`}
          onClick={onRemove}
        />
      </legend>
      <div class="row">
        <TextField
          label={`Endpoint ${number}`}
          error={errorOf("endpoint")}
          inputMode="url"
          value={endpoint}
          onInput={(endpoint) => onChange({ endpoint })}
        />
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
