import type { CheckCount, CheckResult } from "../../schemas/checks.ts";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount } from "../../../shared/pages/format.ts";
import { Section } from "../frame.tsx";

/** Which checks the reply meets, and why not. */
export function CheckResults({ results }: { results: CheckResult[] }) {
  return (
    <Section title="Checks">
      <ul class="reasons">
        {results.map(({ name, value, required, reason, scope }, index) => (
          <li key={index}>
            <span class={`badge ${value === 1 ? "good" : value === 0 ? "bad" : "warn"}`}>
              {value === 1 ? "met" : value === 0 ? "not met" : "missing"}
            </span>
            <span>
              <span dir="auto">{name}</span>
              {required && <span class="muted">, required</span>}
              {scope && <span class="muted">, whole conversation</span>}
              {reason && <div class="muted small" dir="auto">{reason}</div>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** How often each check of a run was met, the least met first. */
export function CheckCounts({ counts }: { counts: CheckCount[] }) {
  if (counts.length === 0) return null;
  return (
    <Section title="Checks" hint="A turn that does not meet a required check does not pass.">
      <DataTable
        label="Checks"
        isFlat
        rows={counts.toSorted((a, b) => b.failed - a.failed)}
        keyOf={({ type, name }) => `${type} ${name}`}
        columns={[
          {
            label: "Check",
            cell: ({ name, required }) => (
              <>
                <span dir="auto">{name}</span> {required && <span class="badge">required</span>}
              </>
            ),
          },
          { label: "Met", isNumber: true, cell: ({ passed }) => formatCount(passed) },
          {
            label: "Not met",
            isNumber: true,
            cell: ({ failed }) => (
              <span class={failed > 0 ? "bad-text" : ""}>{formatCount(failed)}</span>
            ),
          },
          { label: "Missing", isNumber: true, cell: ({ missing }) => formatCount(missing) },
        ]}
      />
    </Section>
  );
}
