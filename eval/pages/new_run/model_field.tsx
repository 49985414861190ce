import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Field } from "../../../shared/pages/components/field.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { listModels } from "../api.ts";
import { useLoaded } from "../loaded.ts";
import { draft } from "./draft.ts";

/** A model's id: any text, with the models that the endpoint lists as suggestions. */
export function ModelField({ error }: { error: string | undefined }) {
  const id = useId();
  const endpoint = draft.endpoint.value.trim();
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
    <Field label="Model" error={error} hint={hint}>
      {(input) => (
        <>
          <input
            {...input}
            list={id}
            autocomplete="off"
            onFocus={() => isAsked.value = true}
            value={draft.model.value}
            onInput={({ currentTarget }) => draft.model.value = currentTarget.value}
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
