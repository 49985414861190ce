import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A frame in which a table scrolls by itself; by keyboard too, so it has a name. */
export function TableFrame({ label, isFlat, class: name, children }: {
  label: string;
  /** Without a border, inside a card. */
  isFlat?: boolean | undefined;
  /** Of the table. */
  class?: string | undefined;
  children: ComponentChildren;
}) {
  const table = useRowFocus();
  return (
    <div
      class={isFlat ? "table-frame flat" : "table-frame"}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <table class={name} ref={table}>{children}</table>
    </div>
  );
}

/**
 * Hands the focus on when the row that has it goes, because what it showed was deleted: to the last
 * control of the row that takes its place, or to the view if the whole table goes.
 */
function useRowFocus() {
  const table = useRef<HTMLTableElement>(null);
  const { activeElement } = document;
  const row = table.current?.contains(activeElement) ? activeElement!.closest("tr") : null;
  const index = row?.rowIndex ?? 0; // it has none once it is gone
  useLayoutEffect(() => {
    if (!row || row.isConnected) return;
    const { rows } = table.current!;
    const controls = (rows[index] ?? rows[index - 1])?.querySelectorAll<HTMLElement>("a, button");
    controls?.item(controls.length - 1)?.focus();
  });
  useLayoutEffect(() => {
    const shown = table.current!;
    return () => {
      if (!shown.contains(document.activeElement)) return;
      document.getElementById("main")?.focus({ preventScroll: true });
    };
  }, []);
  return table;
}
