import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Field } from "../../../shared/pages/components/field.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { listModels } from "../api.ts";
import { useLoaded } from "../loaded.ts";

/** A model's id: any text, with the models that the endpoint lists as suggestions. */
export function ModelField({ label = "Model", endpoint, model, error, onInput }: {
  label?: string;
  endpoint: string;
  model: string;
  error: string | undefined;
  onInput: (model: string) => void;
}) {
  const id = useId();
  const isAddress = /^https?:\/\/[^/]/.test(endpoint) && URL.canParse(endpoint);
  const isAsked = useSignal(false); // by whoever comes to the field: endpoints are typed slowly
  const models = useLoaded(
    () => isAsked.value && isAddress ? listModels(endpoint) : Promise.resolve([]),
    [isAsked.value && isAddress && endpoint],
  );
  const count = models.value?.length ?? 0;
  const hint = models.problem
    ? "The endpoint cannot be reached, so its models are not listed."
    : count > 0
    ? `The endpoint lists ${formatNumberOf(count, "model")}.`
    : "The id that the endpoint knows the model by";
  return (
    <Field label={label} error={error} hint={hint}>
      {(input) => (
        <>
          <input
            {...input}
            list={id}
            autocomplete="off"
            onFocus={() => isAsked.value = true}
            value={model}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <datalist id={id}>
            {models.value?.map((model) => (
              <option key={model.id} value={model.id}>{model.name ?? model.id}</option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
