import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { useOpened } from "../../../shared/pages/components/menu.tsx";
import { findOptions, useOptionList } from "../../../shared/pages/components/option_list.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { explainShutdown } from "../../ask/shutdown.ts";
import { listModels } from "../api.ts";
import { useLoaded } from "../loaded.tsx";
import { addModel, beginEndpoint, draft, models } from "./draft.ts";

/** The models under test: any ids, with those that the endpoint lists below. */
export function ModelsField({ error }: { error: string | undefined }) {
  const root = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useOpened(root);
  const endpoint = draft.endpoint.value.trim();
  const typed = draft.model.value;
  const isAddress = /^https?:\/\/[^/]/.test(endpoint) && URL.canParse(endpoint);
  const isAsked = useSignal(false); // set by the focus: before, the endpoint may be half typed
  const loaded = useLoaded(
    () => isAsked.value && isAddress ? listModels(endpoint) : Promise.resolve([]),
    [isAsked.value && isAddress && endpoint],
  );
  const listed = (loaded.value ?? []).map(({ id, name }) => ({ id, name: name ?? id }));
  const chosen = draft.models.value.filter((model) => !model.endpoint)
    .map(({ model_id }) => model_id);
  const options = findOptions(listed.filter(({ id }) => !chosen.includes(id)), typed);
  const isShown = isOpen && options.length > 0;
  const { input, list, restart } = useOptionList(options, {
    label: "Models",
    value: typed,
    first: -1, // what was typed stays, unless one is chosen
    isOpen: isShown,
    onChoose: (id) => {
      setOpen(false);
      addModel(id);
    },
    onClose: () => setOpen(false),
  });
  const ending = loaded.value?.find(({ id }) =>
    models.value.some(({ model_id }) => model_id === id)
  );
  const shutdown = ending && explainShutdown(ending);
  const hint = shutdown
    ? <strong>{shutdown[0]!.toUpperCase() + shutdown.slice(1)}</strong>
    : loaded.problem
    ? "The endpoint cannot be reached, so its models are not listed."
    : listed.length > 0
    ? `The endpoint lists ${formatNumberOf(listed.length, "model")}. Several run side by side.`
    : "The id that the endpoint knows the model by; several, by commas, run side by side";
  const open = () => {
    isAsked.value = true;
    setOpen(true);
  };

  function onKeyDown(event: KeyboardEvent): void {
    if (isShown) input.onKeyDown?.(event);
    if (event.defaultPrevented) return;
    if (event.key === "Enter" && typed.trim()) {
      event.preventDefault();
      addModel(typed.trim());
    } else if (event.key === "Backspace" && typed === "") {
      draft.models.value = draft.models.value.slice(0, -1);
    }
  }

  return (
    <>
      <Field label="Model" error={error} hint={hint}>
        {(attributes) => (
          <div class="picker models" ref={root}>
            {draft.models.value.length > 0 && (
              <ul class="chosen-models" aria-label="Chosen models">
                {draft.models.value.map(({ model_id, endpoint }, index) => (
                  <li key={`${model_id} ${endpoint}`} class="badge">
                    <bdi>{model_id}</bdi>
                    {endpoint && <span class="muted small">{new URL(endpoint).host}</span>}
                    <IconButton
                      icon="close"
                      isSmall
                      label={`Remove ${model_id}`}
                      onClick={() => {
                        draft.models.value = draft.models.value.toSpliced(index, 1);
                        root.current?.querySelector("input")?.focus();
                      }}
                    />
                  </li>
                ))}
              </ul>
            )}
            <input
              {...attributes}
              {...input}
              value={typed}
              onKeyDown={onKeyDown}
              onFocus={open}
              onClick={open}
              onInput={({ currentTarget }) => {
                open();
                restart();
                const ids = currentTarget.value.split(",");
                draft.model.value = ids.pop()!.trimStart();
                const rest = draft.model.value;
                for (const id of ids) addModel(id.trim());
                draft.model.value = rest;
              }}
            />
            {isShown && <div class="picker-panel">{list}</div>}
          </div>
        )}
      </Field>
      {models.value.length > 0 && isAddress && (
        <div class="row start-row">
          <Button
            isSmall
            icon="plus"
            onClick={() => {
              beginEndpoint();
              document.querySelector<HTMLElement>("input[inputmode=url]")?.focus();
            }}
          >
            Add a model at another endpoint
          </Button>
        </div>
      )}
    </>
  );
}
