import { query, setQuery } from "../../shared/pages/location.ts";

export type SortOrder = "ascending" | "descending";

/** How the address sorts a table by a column; `undefined` if by another one, or if it cannot. */
export function sortOrder(sort: string | undefined, initial: string): SortOrder | undefined {
  const current = query.value.get("sort") ?? initial;
  if (current === sort) return "ascending";
  return current === `-${sort}` ? "descending" : undefined;
}

/** The name of a column. It sorts the table: first as `first` says, then the other way round. */
export function SortButton({ label, sort, order, first }: {
  label: string;
  sort: string;
  order: SortOrder | undefined;
  first: SortOrder;
}) {
  const isNextUp = order ? order === "descending" : first === "ascending";
  return (
    <button
      type="button"
      class="sort"
      onClick={() => setQuery({ sort: isNextUp ? sort : `-${sort}` })}
    >
      {label}
      <span class="arrow" aria-hidden="true">
        {order && (order === "descending" ? "↓" : "↑")}
      </span>
    </button>
  );
}
