import type { Signal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";

/** Below a list: shows the next page of it. */
export function MoreButton({ pages }: { pages: Signal<number> }) {
  return (
    <div class="more">
      <Button onClick={() => pages.value++}>Show more</Button>
    </div>
  );
}

/** The first `count` pages of a list, and whether there are more. */
export async function readPages<Page extends { next_cursor: string | null }, Row>(
  count: number,
  { read, rowsOf }: {
    read: (cursor: string | undefined) => Promise<Page>;
    rowsOf: (page: Page) => Row[];
  },
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < count && (page === 0 || cursor); page++) {
    const found = await read(cursor);
    rows.push(...rowsOf(found));
    cursor = found.next_cursor ?? undefined;
  }
  return { rows, hasMore: cursor !== undefined };
}
