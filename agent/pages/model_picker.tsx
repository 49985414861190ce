import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../shared/pages/components/icon.tsx";
import { useOpened } from "../../shared/pages/components/menu.tsx";
import {
  findOptions,
  type ListOption,
  useOptionList,
} from "../../shared/pages/components/option_list.tsx";
import {
  isDemoModel,
  isModelId,
  modelGroups,
  modelName,
  models,
  modelsProblem,
} from "./model_state.ts";

/** The models whose name or id contains every word of the query, and the query itself as an id. */
function listOptions(query: string): ListOption[] {
  const listed = modelGroups.value.flatMap(({ title, models }) =>
    models.map(({ id, name }) => ({ id, name: title === "Hub" ? id : name, group: title }))
  );
  const typed = query.trim();
  const isNew = isModelId(typed) && !listed.some(({ id }) => id === typed);
  return [
    ...findOptions(listed, query),
    ...(isNew ? [{ id: typed, name: `Use ${typed}`, group: "Any other" }] : []),
  ];
}

/** A button with the model's name; it opens a list with a search, in which any id can be typed. */
export function ModelPicker({ label, value, onChange }: {
  label: string;
  value: string;
  onChange: (model: string) => void;
}) {
  const root = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useOpened(root);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  return (
    <div class="picker" ref={root}>
      <button
        type="button"
        class="button picker-button"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        title={value}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="visually-hidden">{label}:</span>{" "}
        <span class="picker-name">{value ? modelName(value) : "Choose a model"}</span>{" "}
        {isDemoModel(value) && <span class="badge">demo</span>}
        <Icon name="down" />
      </button>
      {isOpen && (
        <Panel
          value={value}
          onClose={close}
          onChoose={(model) => {
            close();
            onChange(model);
          }}
        />
      )}
    </div>
  );
}

function Panel({ value, onChoose, onClose }: {
  value: string;
  onChoose: (model: string) => void;
  onClose: () => void;
}) {
  const [query, setQuery] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => search.current?.focus(), []);
  const options = listOptions(query);
  const { input, list, restart } = useOptionList(options, {
    label: "Models",
    value,
    onChoose,
    onClose,
  });
  return (
    <div class="picker-panel">
      <div class="picker-search">
        <Icon name="search" />
        <input
          {...input}
          ref={search}
          aria-label="Search models, or type an id"
          placeholder="Search, or type an id"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            restart();
          }}
        />
      </div>
      {list}
      {options.length === 0 && <p class="picker-hint">{hintFor(query)}</p>}
    </div>
  );
}

function hintFor(query: string): string {
  if (query.trim()) {
    const isListed = models.value?.length !== 0;
    return isListed ? "No such model. An id is a UUID, or provider/model." : "An id has no blanks.";
  }
  if (modelsProblem.value) return "The list cannot be read. Type an id, such as provider/model.";
  return models.value
    ? "The service lists no models. Type an id, such as provider/model."
    : "Loading the models…";
}
