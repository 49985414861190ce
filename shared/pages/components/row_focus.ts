import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Hands the focus on when the row that has it goes, because what it showed was deleted: to the last
 * control of the row that takes its place, to the first of the list if no row is left, or to the view
 * if the list goes. `rows` selects the rows inside the element that gets the reference.
 */
export function useRowFocus<T extends HTMLElement>(rows: string): RefObject<T | null> {
  const list = useRef<T>(null);
  const { activeElement } = document;
  const row = list.current?.contains(activeElement) ? activeElement!.closest(rows) : null;
  const readRows = () => [...list.current!.querySelectorAll(rows)];
  const index = row ? readRows().indexOf(row) : 0; // it has none once it is gone
  useLayoutEffect(() => {
    if (!row || row.isConnected) return;
    if (!list.current) return focusView();
    const left = readRows();
    const next = left[index] ?? left[index - 1];
    const controls = (next ?? list.current).querySelectorAll<HTMLElement>("a, button, summary");
    controls[next ? controls.length - 1 : 0]?.focus();
  });
  useLayoutEffect(() => {
    const shown = list.current;
    return () => {
      if (shown?.contains(document.activeElement)) focusView();
    };
  }, []);
  return list;
}

function focusView(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}
