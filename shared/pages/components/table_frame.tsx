import type { ComponentChildren } from "preact";

/** A frame in which a table scrolls by itself; by keyboard too, so it has a name. */
export function TableFrame({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
