import { Field } from "../../../shared/pages/components/field.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { listDatasets } from "../api.ts";
import { BatchField } from "../batch/batch_field.tsx";
import { Section } from "../parts/section.tsx";
import { Failed, useLoaded } from "../loaded.tsx";
import type { Dataset } from "../../http/dataset_routes.ts";
import { Select } from "../parts/fields.tsx";
import { draft, setBatchText } from "./draft.ts";

/** What is to be asked: the conversations of a dataset, or a batch. */
export function Conversations({ error }: { error: string | undefined }) {
  const listed = useLoaded(() => listDatasets({ limit: 1_000 }), []);
  const datasets = listed.value?.datasets ?? [];
  const chosen = draft.dataset.value;
  const input = draft.batch.input.value;
  return (
    <Section title="Test conversations">
      <Failed problem={listed.problem} retry={listed.reload} />
      {(datasets.length > 0 || chosen) && (
        <Field
          label="Dataset"
          error={chosen ? error : undefined}
          hint={chosen
            ? <Link href={`/ui/dataset/${nameOf(chosen)}`}>Look at the dataset</Link>
            : "Or enter the conversations below"}
        >
          {(input) => (
            <Select
              {...input}
              options={[["", "None: enter them here"], ...optionsOf(datasets, chosen)]}
              value={chosen}
              onChoose={(dataset) => draft.dataset.value = dataset}
            />
          )}
        </Field>
      )}
      {!chosen && (
        <BatchField
          label="Batch"
          text={draft.batch.text.value}
          error={error ?? (input.kind === "wrong" ? input.reason : undefined)}
          hint="JSON, JSONL or CSV: scenarios as for POST /evaluate, or a table with a column of messages"
          onText={setBatchText}
          onFile={async (file) => setBatchText(await file.text())}
        />
      )}
    </Section>
  );
}

/** `chosen` may be a version, or deleted since. */
function optionsOf(datasets: Dataset[], chosen: string): [value: string, label: string][] {
  const options = datasets.map(({ name, scenarios }): [string, string] => [
    name,
    `${name} (${formatNumberOf(scenarios, "scenario")})`,
  ]);
  const isListed = !chosen || datasets.some(({ name }) => name === chosen);
  return isListed ? options : [[chosen, chosen], ...options];
}

function nameOf(dataset: string): string {
  return dataset.split("@", 1)[0]!;
}
