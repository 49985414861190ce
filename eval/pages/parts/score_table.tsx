import type { ComponentChildren } from "preact";
import { tip } from "../../../shared/pages/components/tip.tsx";
import { type Column, DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { isLexical, overallFirst, scoreLabel, scoreMeaning } from "../words.ts";

interface ScoreTableProps {
  names: string[];
  /** After the names of the scores. */
  columns: (Column<string> | false)[];
  chosen: string;
  onChoose: (name: string) => void;
  /** Beside the name. */
  mark?: (name: string) => ComponentChildren;
}

/** A row per score, `overall` first; a press on its name chooses it. Scores by words are folded. */
export function ScoreTable({ names, ...props }: ScoreTableProps) {
  const lexical = names.filter(isLexical);
  return (
    <>
      <Rows label="Scores" names={names.filter((name) => !isLexical(name))} {...props} />
      {lexical.length > 0 && (
        <details class="as-table" open={isLexical(props.chosen)}>
          <summary>{`${formatNumberOf(lexical.length, "score")} of words in common`}</summary>
          <Rows label="Scores of words in common" names={lexical} {...props} />
        </details>
      )}
    </>
  );
}

function Rows(
  { label, names, columns, chosen, onChoose, mark }: ScoreTableProps & { label: string },
) {
  return (
    <DataTable
      label={label}
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
              </button>{" "}
              {mark?.(name)}
            </>
          ),
        },
        ...columns,
      ]}
    />
  );
}
