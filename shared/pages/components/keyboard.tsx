import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

/** A key of a view: what is pressed (`j`, `/`, `Ctrl+Enter`) and what it does. */
interface Shortcut {
  key: string;
  /** Empty if the entry of another key says it. */
  does: string;
  /** Missing if the component itself handles the key and it is only listed. */
  run?: () => void;
}

const isHelpOpen = signal(false);
const active = signal<Shortcut[]>([]);

/**
 * Makes keys work while a view is shown, except while the person types or a dialog is open. What a
 * key does may change with each render; the keys themselves may not.
 */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    active.value = [...active.value, ...shortcuts];
    function onKeyDown(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const found = latest.current.find(({ key, run }) => run && key === event.key);
      if (!found) return;
      event.preventDefault();
      found.run?.();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => {
      active.value = active.value.filter((shortcut) => !shortcuts.includes(shortcut));
      document.removeEventListener("keydown", onKeyDown);
    };
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Opens the list of keys. */
export function openKeyboardHelp(): void {
  isHelpOpen.value = true;
}

/** The list of keys, opened by `?`. */
export function KeyboardHelp() {
  useShortcuts([{ key: "?", does: "Show these keys", run: openKeyboardHelp }]);
  if (!isHelpOpen.value) return null;
  return (
    <Dialog title="Keys" onClose={() => isHelpOpen.value = false}>
      <dl class="keys">
        {active.value.filter(({ does }) => does !== "").map(({ key, does }) => (
          <>
            <dt>{key.split("+").map((part) => <kbd key={part}>{part}</kbd>)}</dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
