import { useEffect, useRef } from "preact/hooks";
import { useShortcuts } from "../../../shared/pages/components/keyboard.tsx";
import { query, setQuery } from "../../../shared/pages/location.ts";

/** The pause in typing after which a text is searched for. */
const TYPING_MS = 250;

/** What one searches for, kept in the address as `q`; `/` goes to it. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useShortcuts([{ key: "/", does: label, run: () => input.current?.focus() }]);
  const text = query.value.get("q") ?? "";
  useEffect(() => () => clearTimeout(timer.current), []); // it would set the address of the next view
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
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setQuery({ q: value }), TYPING_MS);
      }}
    />
  );
}
