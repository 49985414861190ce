import type { ComponentChildren } from "preact";
import { tip } from "../../../shared/pages/components/tip.tsx";
import { type Column, DataTable } from "../../../shared/pages/components/data_table.tsx";
import { overallFirst, scoreLabel, scoreMeaning } from "../words.ts";

/** A row per score, `overall` first; a press on its name chooses it. */
export function ScoreTable({ names, columns, chosen, onChoose, mark }: {
  names: string[];
  /** Behind the names of the scores. */
  columns: (Column<string> | false)[];
  chosen: string;
  onChoose: (name: string) => void;
  /** Beside the name. */
  mark?: (name: string) => ComponentChildren;
}) {
  return (
    <DataTable
      label="Scores"
      isFlat
      rows={overallFirst(names)}
      keyOf={(name) => name}
      isChosen={(name) => name === chosen}
      columns={[
        {
          label: "Score",
          cell: (name) => (
            <>
              <button
                type="button"
                class="plain-link"
                aria-pressed={name === chosen}
                {...tip(scoreMeaning(name))}
                onClick={() => onChoose(name)}
              >
                {scoreLabel(name)}
              </button>
              {mark?.(name)}
            </>
          ),
        },
        ...columns,
      ]}
    />
  );
}
