import { batch, computed, signal } from "@preact/signals";
import {
  type ColumnUse,
  type DraftScenario,
  guessUses,
  readBatchInput,
  toBatch,
} from "./batch_input.ts";

/** A batch as a person enters it: the text, what it was read as, and what its columns are. */
export type BatchDraft = ReturnType<typeof createBatchDraft>;

export function createBatchDraft() {
  const text = signal("");
  const isBeginning = signal(false);
  const chosenUses = signal<ColumnUse[] | undefined>(undefined);
  const input = computed(() => readBatchInput(text.value, { isBeginning: isBeginning.value }));

  /** The person's choice, or a guess by the names of the columns. */
  const uses = computed<ColumnUse[]>(() => {
    if (input.value.kind !== "csv") return [];
    const { columns } = input.value.table;
    return chosenUses.value?.length === columns.length ? chosenUses.value : guessUses(columns);
  });

  /** None if the text cannot be used yet. */
  const scenarios = computed<DraftScenario[]>(() => {
    const read = input.value;
    if (read.kind === "csv") {
      return uses.value.includes("message") ? toBatch(read.table, uses.value) : [];
    }
    return "scenarios" in read ? read.scenarios : [];
  });

  return {
    text,
    input,
    chosenUses,
    uses,
    scenarios,
    /** Another text is another table. `isBeginning`: the file that it is from goes on. */
    setText(next: string, more: { isBeginning?: boolean } = {}): void {
      batch(() => {
        text.value = next;
        isBeginning.value = more.isBeginning ?? false;
        chosenUses.value = undefined;
      });
    },
    setUse(column: number, use: ColumnUse): void {
      chosenUses.value = uses.value.map((current, index) =>
        index === column ? use : use !== "metadata" && current === use ? "" : current
      );
    },
  };
}
