import { useSignal } from "@preact/signals";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { query } from "../../../shared/pages/location.ts";
import type { WrittenDataset } from "../../http/dataset_routes.ts";
import { Section } from "../parts/section.tsx";
import { runAddress } from "./dataset_actions.tsx";
import { DatasetForm } from "./dataset_form.tsx";
import { LeftOut } from "./left_out.tsx";

/** Writes a dataset, or with `?name=` another version of one. */
export function NewDatasetView() {
  const name = query.value.get("name") ?? undefined;
  const written = useSignal<WrittenDataset | undefined>(undefined);
  if (written.value) return <Written dataset={written.value} />;
  return (
    <>
      <div class="page-head">
        <h2>{name ? `New version of ${name}` : "New dataset"}</h2>
      </div>
      <Section title="Test conversations">
        <DatasetForm name={name} onWritten={(dataset) => written.value = dataset} />
      </Section>
    </>
  );
}

/** What became of a file, and what of it has no counterpart here. */
function Written({ dataset }: { dataset: WrittenDataset }) {
  const { name, version, scenarios, turns, created, left_out } = dataset;
  return (
    <>
      <div class="page-head">
        <h2>{created ? "The dataset is saved" : "This version was there already"}</h2>
      </div>
      <Section
        title={name}
        hint={
          <>
            Version <code>{version.slice(0, 8)}</code>: {formatNumberOf(scenarios, "scenario")},
            {" "}
            {formatNumberOf(turns, "turn")}
          </>
        }
      >
        <LeftOut parts={left_out} />
        <div class="row start-row">
          <Link class="button primary" href={runAddress(name)}>New run</Link>
          <Link class="button" href={`/ui/dataset/${name}`}>Look at it</Link>
          <Link class="button" href="/ui/datasets">All datasets</Link>
        </div>
      </Section>
    </>
  );
}
