import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatCount } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { DatasetVersion } from "../../http/dataset_routes.ts";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { SearchField } from "../parts/search_field.tsx";
import { readScenarios } from "./dataset_content.ts";
import { EditScenario } from "./edit_scenario.tsx";
import { ScenarioRows } from "./scenario_rows.tsx";

const PAGE = 100;

/** The scenarios of a version; each can be opened, and changed into a new version. */
export function ScenarioList({ dataset, isLatest, onSaved }: {
  dataset: DatasetVersion;
  isLatest: boolean;
  onSaved: () => void;
}) {
  const { name, version } = dataset;
  const loaded = useLoaded(
    () => readScenarios(name, version),
    [name, version],
  );
  const shown = useSignal(PAGE);
  const edited = useSignal<number | undefined>(undefined);
  const wanted = (query.value.get("q") ?? "").toLowerCase();
  const { value } = loaded;
  const found = (value?.scenarios ?? []).map((scenario, index) => ({ scenario, index }))
    .filter(({ scenario }) => !wanted || JSON.stringify(scenario).toLowerCase().includes(wanted));
  const read = value?.scenarios.length ?? 0;
  return (
    <Section
      title="Scenarios"
      hint={value && !value.isWhole
        ? `The first ${formatCount(read)} of ${
          formatCount(dataset.scenarios)
        }; download the dataset to see all.`
        : "Open one to see its turns and to change it."}
      actions={
        <span class="filters">
          <SearchField label="Search the scenarios" placeholder="Search texts" />
          <Link class="button" href={`/ui/datasets/add?name=${name}`}>Add a scenario</Link>
        </span>
      }
    >
      <Shown loaded={loaded} what="the scenarios">
        {() =>
          found.length === 0
            ? (
              <Empty icon="search" title="No scenario fits">
                <Button onClick={() => setQuery({ q: undefined })}>Show all scenarios</Button>
              </Empty>
            )
            : (
              <ScenarioRows
                scenarios={found.slice(0, shown.value).map(({ scenario }) => scenario)}
                onEdit={(row) => edited.value = found[row]!.index}
              />
            )}
      </Shown>
      {found.length > shown.value && (
        <div class="more">
          <Button isSmall onClick={() => shown.value += PAGE}>Show more</Button>
          <span class="muted small">
            {formatCount(shown.value)} of {formatCount(found.length)}
          </span>
        </div>
      )}
      {edited.value !== undefined && value && (
        <EditScenario
          key={edited.value}
          dataset={dataset}
          isLatest={isLatest}
          index={edited.value}
          scenario={value.scenarios[edited.value]!}
          onClose={() => edited.value = undefined}
          onSaved={onSaved}
        />
      )}
    </Section>
  );
}
