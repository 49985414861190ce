import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../shared/pages/components/icon.tsx";
import { useOpened } from "../../shared/pages/components/use_opened.ts";
import {
  isDemoModel,
  isModelId,
  modelGroups,
  modelName,
  models,
  modelsProblem,
} from "./model_state.ts";

interface Option {
  id: string;
  name: string;
  group: string;
}

/** The models whose name or id contains every word of the query, and the query itself as an id. */
function findOptions(query: string): Option[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const listed = modelGroups.value.flatMap(({ title, models }) =>
    models.map(({ id, name }) => ({ id, name: title === "Hub" ? id : name, group: title }))
  );
  const found = listed.filter(({ id, name }) =>
    words.every((word) => `${name} ${id}`.toLowerCase().includes(word))
  );
  const typed = query.trim();
  const isNew = isModelId(typed) && !listed.some(({ id }) => id === typed);
  return isNew ? [...found, { id: typed, name: `Use ${typed}`, group: "Any other" }] : found;
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
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const options = findOptions(query);
  const active = Math.min(at, options.length - 1);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active]);

  function onKeyDown(event: KeyboardEvent): void {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && options[active]) onChoose(options[active].id);
    else if (move !== undefined && options.length > 0) {
      setAt((active + move + options.length) % options.length);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="picker-panel">
      <div class="picker-search">
        <Icon name="search" />
        <input
          ref={input}
          role="combobox"
          aria-label="Search models, or type an id"
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          {...(options[active] && { "aria-activedescendant": `${id}-${active}` })}
          placeholder="Search, or type an id"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="picker-list" role="listbox" id={id} aria-label="Models" tabIndex={-1}>
        {options.map((option, index) => (
          <>
            {option.group !== options[index - 1]?.group && (
              <div class="picker-group" key={option.group} role="presentation">{option.group}</div>
            )}
            <div
              key={option.id}
              id={`${id}-${index}`}
              role="option"
              class="picker-option"
              data-active={index === active}
              aria-selected={option.id === value}
              title={option.id}
              onClick={() => onChoose(option.id)}
              onPointerMove={() => setAt(index)}
            >
              <span class="picker-name">{option.name}</span>
              {option.id === value && <Icon name="check" />}
            </div>
          </>
        ))}
      </div>
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
