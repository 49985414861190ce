import { useEffect, useId, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** One choice of a list. */
export interface ListOption {
  id: string;
  name: string;
  /** Above the first option of each group. */
  group?: string | undefined;
}

/** The options that contain every word of a text. */
export function findOptions<T extends ListOption>(options: T[], text: string): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter(({ id, name }) =>
    words.every((word) => `${name} ${id}`.toLowerCase().includes(word))
  );
}

/**
 * The list below an input, and what the input needs for it: arrow keys move, Enter chooses, Escape
 * closes. `first` is the option that Enter takes before any key: -1 for none.
 */
export function useOptionList(
  options: ListOption[],
  { label, value, first = 0, isOpen = true, onChoose, onClose }: {
    label: string;
    /** The id that is chosen now. */
    value: string;
    first?: number;
    isOpen?: boolean;
    onChoose: (id: string) => void;
    onClose: () => void;
  },
) {
  const id = useId();
  const [at, setAt] = useState(first);
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
      setAt((Math.max(active, move > 0 ? -1 : 0) + move + options.length) % options.length);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const input = {
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": isOpen,
    ...(isOpen && { "aria-controls": id, onKeyDown }),
    ...(isOpen && options[active] && { "aria-activedescendant": `${id}-${active}` }),
    autocomplete: "off",
    spellcheck: false,
  } as const;
  const list = (
    <div class="picker-list" role="listbox" id={id} aria-label={label} tabIndex={-1}>
      {options.map((option, index) => (
        <>
          {option.group && option.group !== options[index - 1]?.group && (
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
  );
  return { input, list, restart: () => setAt(first) };
}
