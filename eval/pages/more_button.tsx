import type { Signal } from "@preact/signals";
import { Button } from "../../shared/pages/components/button.tsx";

/** Below a list that goes on: shows a page more of it. */
export function MoreButton({ pages }: { pages: Signal<number> }) {
  return (
    <div class="more">
      <Button onClick={() => pages.value++}>Show more</Button>
    </div>
  );
}
