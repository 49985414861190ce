import { signal } from "@preact/signals";
import { Button } from "../../shared/pages/components/button.tsx";
import { Link } from "../../shared/pages/components/link.tsx";
import { query } from "../../shared/pages/location.ts";
import { keepChoice, readChoice } from "../../shared/pages/storage.ts";

interface SavedFilter {
  text: string;
  /** The filters as the address has them. */
  query: string;
}

type Kind = "runs" | "turns";
const saved = signal<Partial<Record<Kind, SavedFilter[]>>>(readChoice("filters") ?? {});

function keep(of: Kind, filters: SavedFilter[]): void {
  saved.value = { ...saved.value, [of]: filters };
  keepChoice("filters", saved.value);
}

/** Filters that this browser keeps, as links. `text` says what the address filters by now. */
export function SavedFilters({ of, text }: { of: Kind; text: string }) {
  const filters = saved.value[of] ?? [];
  const now = query.value.toString();
  const isNew = text !== "" && !filters.some((filter) => filter.query === now);
  if (filters.length === 0 && !isNew) return null;
  return (
    <nav class="saved-filters small" aria-label="Saved filters">
      {filters.map((filter) => (
        <span key={filter.query} class="saved-filter">
          <Link
            href={`?${filter.query}`}
            {...(filter.query === now && { "aria-current": "true" as const })}
          >
            <bdi>{filter.text}</bdi>
          </Link>
          <Button
            kind="quiet"
            isSmall
            icon="close"
            aria-label={`Forget the filter ${filter.text}`}
            onClick={() => keep(of, filters.filter((other) => other !== filter))}
          />
        </span>
      ))}
      {isNew && (
        <Button
          isSmall
          icon="plus"
          onClick={() => keep(of, [...filters, { text, query: now }])}
        >
          Save this filter
        </Button>
      )}
    </nav>
  );
}
