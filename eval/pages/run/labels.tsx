import { useSignal } from "@preact/signals";
import { Link } from "../../../shared/pages/components/link.tsx";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import { Select } from "../parts/fields.tsx";
import { Section } from "../parts/section.tsx";

/** The most labels that have a column. */
const MOST_LABELS = 30;

/** For each metadata key: which labels were expected, and which were found in the replies. */
export function Labels({ labels }: { labels: RunSummary["labels"] }) {
  const keys = Object.keys(labels);
  const chosen = useSignal(keys[0]);
  const key = keys.includes(chosen.value ?? "") ? chosen.value! : keys[0];
  if (key === undefined) return null;
  const { confusion, flip_rate, self_check, counts, of } = labels[key]!;
  const all = Object.keys(confusion);
  const expected = all.slice(0, MOST_LABELS);
  const labelsFound = [...new Set(expected.flatMap((row) => Object.keys(confusion[row]!)))]
    .toSorted((a, b) => Number(!expected.includes(a)) - Number(!expected.includes(b)));
  const found = labelsFound.slice(0, MOST_LABELS);
  const others = labelsFound.slice(MOST_LABELS);
  const hints = [
    all.length > expected.length &&
    `These are the first ${expected.length} of ${formatCount(all.length)} labels.`,
    counts < of &&
    `It counts at ${formatCount(counts)} of ${
      formatNumberOf(of, "turn")
    }: at the others the labeller misreads the reference itself.`,
    flip_rate !== null &&
    `${formatScore(flip_rate * 100, 0)}% of the pairs of attempts disagree about the same turn.`,
    self_check && self_check.accuracy !== null &&
    `The labeller finds ${self_check.right} of ${self_check.of} labels of the references.`,
  ].filter(Boolean).join(" ");
  return (
    <Section
      title="Labels"
      hint={`Rows are what the reference expects, columns what the reply has. ${hints}`}
      actions={keys.length > 1 && (
        <Select
          aria-label="Metadata key"
          options={keys.map((name) => [name, name])}
          value={key}
          onChoose={(name) => chosen.value = name}
        />
      )}
    >
      <TableFrame label={`Labels of ${key}`} isFlat class="confusion">
        <thead>
          <tr>
            <th scope="col">{key}</th>
            {found.map((label) => <th key={label} scope="col" class="number" dir="auto">{label}
            </th>)}
            {others.length > 0 && (
              <th scope="col" class="number">{formatNumberOf(others.length, "other")}</th>
            )}
          </tr>
        </thead>
        <tbody>
          {expected.map((row) => (
            <tr key={row}>
              <th scope="row" dir="auto">{row}</th>
              {found.map((column) => {
                const count = confusion[row]![column] ?? 0;
                const address = new URLSearchParams({
                  label_key: key,
                  expected: row,
                  found: column,
                });
                return (
                  <td
                    key={column}
                    class={`number ${count === 0 ? "" : row === column ? "right" : "wrong"}`}
                  >
                    {count > 0 && (
                      <Link
                        href={`?${address}#turns`}
                        aria-label={`${
                          formatNumberOf(count, "turn")
                        }: expected ${row}, found ${column}`}
                      >
                        {formatCount(count)}
                      </Link>
                    )}
                  </td>
                );
              })}
              {others.length > 0 && <OtherLabels counts={confusion[row]!} labels={others} />}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </Section>
  );
}

/** How many replies have one of the labels that have no column. */
function OtherLabels({ counts, labels }: { counts: Record<string, number>; labels: string[] }) {
  const count = labels.reduce((sum, label) => sum + (counts[label] ?? 0), 0);
  return <td class={count > 0 ? "number wrong" : "number"}>{count > 0 && formatCount(count)}</td>;
}
