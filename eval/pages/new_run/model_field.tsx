import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Field } from "../../../shared/pages/components/field.tsx";
import { useOpened } from "../../../shared/pages/components/menu.tsx";
import { findOptions, useOptionList } from "../../../shared/pages/components/option_list.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { listModels } from "../api.ts";
import { useLoaded } from "../loaded.ts";

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
  const hint = models.problem
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
