import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { Age, Notice, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import type { DatasetVersion } from "../../http/dataset_routes.ts";
import type { LeakCheck, LeakedScenario, LeakReport } from "../../test/leaks.ts";
import { checkLeaks, listLeakChecks } from "../api.ts";
import { Shown, useLoaded } from "../loaded.tsx";
import { ReplyDiff } from "../parts/replies.tsx";
import { Section } from "../parts/section.tsx";
import { useSending } from "../sending.ts";

const NAMES = { word_for_word: "word for word", near: "near", none: "none" };

/** Which scenarios of a version a training file has, and what it was checked against before. */
export function LeaksSection({ dataset: { name, version } }: { dataset: DatasetVersion }) {
  const checks = useLoaded(() => listLeakChecks(name, version), [name, version]);
  const file = useSignal<File | undefined>(undefined);
  const report = useSignal<LeakReport | undefined>(undefined);
  const { problem, isSending, send } = useSending();

  async function check(event: Event): Promise<void> {
    event.preventDefault();
    const chosen = file.value!;
    await send(async () => {
      report.value = await checkLeaks(name, version, chosen);
      checks.reload();
    });
  }

  return (
    <Section
      title="Leaks"
      hint="Which scenarios does a training file have? The file is compared here and not kept."
    >
      <form class="row" onSubmit={check} noValidate>
        {problem.value && <ProblemNotice problem={problem.value} />}
        <Field label="Training file" hint="JSONL or a JSON array, of messages or any other fields">
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".jsonl,.json"
              onChange={({ currentTarget }) => file.value = currentTarget.files?.[0]}
            />
          )}
        </Field>
        <Button type="submit" disabled={!file.value || isSending.value}>
          {isSending.value ? "Checking…" : "Check for leaks"}
        </Button>
      </form>
      {report.value && <Report report={report.value} />}
      <Shown loaded={checks} what="the earlier checks">
        {({ checks }) => checks.length > 0 && <Checks checks={checks} />}
      </Shown>
    </Section>
  );
}

function Report({ report: { scenarios, rows, word_for_word, near } }: { report: LeakReport }) {
  const found = scenarios.filter(({ verdict }) => verdict !== "none");
  return (
    <>
      <Notice {...(found.length > 0 && { kind: "warn" as const })}>
        {`Of ${formatNumberOf(scenarios.length, "scenario")}, ${formatCount(word_for_word)} ` +
          `word for word and ${formatCount(near)} near in ${formatNumberOf(rows, "row")}.`}
      </Notice>
      {found.map((leak) => <Leak key={leak.scenario} leak={leak} />)}
    </>
  );
}

function Leak({ leak: { scenario_id, verdict, test, match } }: { leak: LeakedScenario }) {
  return (
    <section aria-label={scenario_id}>
      <h4>
        <span dir="auto">{scenario_id}</span>{" "}
        <span class={`badge ${verdict === "near" ? "warn" : "bad"}`}>{NAMES[verdict]}</span>
      </h4>
      <ReplyDiff
        before={{ label: "Test", text: test }}
        after={{ label: `Training, row ${match!.row}`, text: match!.text }}
      />
    </section>
  );
}

function Checks({ checks }: { checks: LeakCheck[] }) {
  return (
    <DataTable
      label="Checked against"
      isFlat
      rows={checks}
      keyOf={({ digest }) => digest}
      columns={[
        {
          label: "Checked against",
          cell: ({ file, digest }) => <span dir="auto">{file || digest.slice(0, 8)}</span>,
        },
        { label: "Rows", isNumber: true, cell: ({ rows }) => formatCount(rows) },
        {
          label: "Word for word",
          isNumber: true,
          cell: ({ word_for_word }) => formatCount(word_for_word),
        },
        { label: "Near", isNumber: true, cell: ({ near }) => formatCount(near) },
        { label: "When", cell: ({ checked_at }) => <Age of={checked_at} /> },
      ]}
    />
  );
}
