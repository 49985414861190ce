import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { useLoaded } from "../loaded.tsx";

/** A page of a list, whose rows are called `name`. */
type Page<Name extends string, Row> = Record<Name, Row[]> & { next_cursor: string | null };

/** The first `count` pages of a list, and whether there are more. */
export async function readPages<Name extends string, Row>(
  name: Name,
  read: (cursor: string | undefined) => Promise<Page<Name, Row>>,
  count = Infinity,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < count && (page === 0 || cursor); page++) {
    const found = await read(cursor);
    rows.push(...found[name]);
    cursor = found.next_cursor ?? undefined;
  }
  return { rows, hasMore: cursor !== undefined };
}

/** A list that is read page by page; `more` is the button that reads the next page, if there is one. */
export function usePages<T extends { hasMore: boolean }>(
  load: (count: number) => Promise<T>,
  keys: unknown[],
) {
  const pages = useSignal(1);
  const loaded = useLoaded(() => load(pages.value), [...keys, pages.value]);
  const more = loaded.value?.hasMore && <MoreButton onMore={() => pages.value++} />;
  return { loaded, more };
}

/** Below a list: shows more of it. */
export function MoreButton({ onMore }: { onMore: () => void }) {
  return (
    <div class="more">
      <Button onClick={onMore}>Show more</Button>
    </div>
  );
}
