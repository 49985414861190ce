import type { ComponentChildren } from "preact";
import { useRowFocus } from "./row_focus.ts";

/** A frame in which a table scrolls by itself; by keyboard too, so it has a name. */
export function TableFrame({ label, isFlat, class: name, children }: {
  label: string;
  /** Without a border, inside a card. */
  isFlat?: boolean | undefined;
  /** Of the table. */
  class?: string | undefined;
  children: ComponentChildren;
}) {
  const table = useRowFocus<HTMLTableElement>("tr");
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
