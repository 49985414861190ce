import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** What is explained, and where. */
const shown = signal<{ text: string; of: Element } | undefined>(undefined);

/** Shows a text beside an element while the pointer is on it, it has the focus, or it is touched. */
export function tip(text: string) {
  const show = ({ currentTarget }: Event) => {
    shown.value = { text, of: currentTarget as Element };
  };
  const hide = () => void (shown.value = undefined);
  return {
    onPointerEnter: show,
    onPointerLeave: hide,
    onFocus: show,
    onBlur: hide,
    onClick: show,
  };
}

/** A word with its definition, which is also read aloud. */
export function Term({ means, children }: { means: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <>
      <button type="button" class="term" aria-describedby={id} {...tip(means)}>{children}</button>
      <span hidden id={id}>{means}</span>
    </>
  );
}

/** Where definitions and the values of charts appear: above all that scrolls or is cut. */
export function Tips() {
  const box = useRef<HTMLDivElement>(null);
  const { value } = shown;
  useLayoutEffect(() => {
    if (!value) return;
    const place = () => {
      if (!box.current) return;
      const of = value.of.getBoundingClientRect();
      const own = box.current.getBoundingClientRect();
      const left = Math.min(of.left, globalThis.innerWidth - own.width - 8);
      const isBelow = of.bottom + own.height + 12 < globalThis.innerHeight;
      box.current.style.left = `${Math.max(8, left)}px`;
      box.current.style.top = `${isBelow ? of.bottom + 6 : Math.max(8, of.top - own.height - 6)}px`;
    };
    const close = ({ key }: KeyboardEvent) => {
      if (key === "Escape") shown.value = undefined;
    };
    place();
    // What gets the focus is scrolled into sight a moment later.
    globalThis.addEventListener("scroll", place, { passive: true, capture: true });
    globalThis.addEventListener("keydown", close);
    return () => {
      globalThis.removeEventListener("scroll", place, { capture: true });
      globalThis.removeEventListener("keydown", close);
    };
  }, [value]);
  return value ? <div class="tip" ref={box} aria-hidden="true">{value.text}</div> : null;
}
