import { useEffect, useRef } from "preact/hooks";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";

/** The pause in typing after which the address has what was typed. */
const TYPING_MS = 250;

/** Sets parameters of the address once the person stops typing: those of all fields at once. */
export function useTyping(): (changes: Record<string, string>) => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const typed = useRef<Record<string, string>>({});
  useEffect(() => () => clearTimeout(timer.current), []); // it would set the address of the next view
  return (changes) => {
    clearTimeout(timer.current);
    Object.assign(typed.current, changes);
    timer.current = setTimeout(() => {
      setQuery(typed.current);
      typed.current = {};
    }, TYPING_MS);
  };
}

/** What one searches for, kept in the address as `q`; `/` goes to it. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const input = useRef<HTMLInputElement>(null);
  const setLater = useTyping();
  useShortcuts([{ key: "/", does: label, run: () => input.current?.focus() }]);
  const text = query.value.get("q") ?? "";
  useEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = text;
  }, [text]);
  return (
    <input
      ref={input}
      class="input search"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={text}
      onInput={({ currentTarget }) => setLater({ q: currentTarget.value })}
    />
  );
}
