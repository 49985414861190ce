import type { RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  label: string;
  icon?: IconName;
  isDanger?: boolean;
  onSelect: () => void;
}

/** A button that opens a list of actions. Arrow keys move, Escape and a click elsewhere close. */
export function Menu({ items, align = "end", button }: {
  items: MenuItem[];
  /** The edge of the button at which the list begins or ends. */
  align?: "start" | "end";
  button: ButtonProps;
}) {
  const root = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useOpened(root);
  const id = useId();

  const entries = () => [...root.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
  const opener = () => root.current?.querySelector<HTMLElement>(":scope > button");

  useLayoutEffect(() => { // before the next key is pressed
    if (isOpen) entries()[0]?.focus();
  }, [isOpen]);

  function close(): void {
    setOpen(false);
    opener()?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isOpen) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 };
    if (event.key === "Escape") close();
    else if (event.key in next) all[next[event.key as keyof typeof next] % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <Button
        {...button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <div class={`menu-list ${align}`} role="menu" id={id}>
          {items.map(({ label, icon, isDanger, onSelect }) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={isDanger ? "danger" : ""}
              onClick={() => {
                close();
                onSelect();
              }}
            >
              {icon && <Icon name={icon} />}
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Whether what belongs to `root` is open. A click or the focus elsewhere closes it. */
export function useOpened(
  root: RefObject<HTMLElement | null>,
): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);
  return [isOpen, setOpen];
}
