import { InputItem } from "../../schemas/responses.ts";
import { createRecent } from "../../run/recent.ts";
import type { OutputItem } from "./output_items.ts";

/** How long a caller may name an item of an earlier response by its id. */
export const KEPT_MINUTES = 10;
const KEPT_CHARACTERS = 16_000_000;

/** The items of the last responses. Only the same caller finds them. */
interface KeptItems {
  keep(items: OutputItem[], caller: string): void;
  find(id: string, caller: string): InputItem | undefined;
}

export function createKeptItems(): KeptItems {
  const recent = createRecent<OutputItem>({
    maxAgeMs: KEPT_MINUTES * 60_000,
    maxCharacters: KEPT_CHARACTERS,
  });
  return {
    keep(items, caller) {
      for (const item of items) recent.keep(item, { caller, keys: [item.id] });
    },
    find(id, caller) {
      const item = recent.find(id, caller);
      return item && InputItem.parse(item);
    },
  };
}
