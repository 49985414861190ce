import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { useRowFocus } from "../../../shared/pages/components/data_table.tsx";
import { Empty } from "../../../shared/pages/components/states.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import type { Scenario } from "../../test/scenario.ts";
import { asText } from "../../../shared/service/fields.ts";
import type { DatasetVersion } from "../../http/dataset_routes.ts";
import { Section } from "../parts/section.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { SearchField } from "../parts/search_field.tsx";
import { readScenarios } from "./dataset_content.ts";
import { EditScenario } from "./edit_scenario.tsx";

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
  const rows = useRowFocus<HTMLDivElement>("details");
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
              <div class="changes scenarios" ref={rows}>
                {found.slice(0, shown.value).map(({ scenario, index }) => (
                  <ScenarioRow
                    key={index}
                    scenario={scenario}
                    isOpen={found.length === 1}
                    onEdit={() => edited.value = index}
                  />
                ))}
              </div>
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

function ScenarioRow({ scenario, isOpen, onEdit }: {
  scenario: Scenario;
  isOpen: boolean;
  onEdit: () => void;
}) {
  const opened = useSignal(isOpen);
  const { id, description, interactions } = scenario;
  const systemPrompt = asText(scenario.system_prompt);
  return (
    <details
      open={opened.value}
      onToggle={({ currentTarget: { open } }) => opened.value = open}
    >
      <summary>
        <span class="name excerpt" dir="auto">{id}</span>
        <span class="excerpt muted" dir="auto">
          {description || interactions[0]?.user_message}
        </span>
        <span class="muted small">{formatNumberOf(interactions.length, "turn")}</span>
      </summary>
      {opened.value && (
        <div class="change">
          {description && <p class="muted" dir="auto">{description}</p>}
          {systemPrompt && <p class="muted" dir="auto">System prompt: {systemPrompt}</p>}
          <ol class="transcript" tabIndex={0} aria-label={`Turns of ${id}`}>
            {interactions.map((turn, index) => (
              <li key={index}>
                <div class="said user" dir="auto">{turn.user_message}</div>
                {turn.reference_reply
                  ? <div class="said reply" dir="auto">{turn.reference_reply}</div>
                  : <span class="muted small">no reference reply</span>}
                <TurnExtras turn={turn} />
              </li>
            ))}
          </ol>
          <div class="row start-row">
            <Button isSmall icon="edit" onClick={onEdit} aria-label={`Edit ${id}`}>Edit</Button>
          </div>
        </div>
      )}
    </details>
  );
}

/** Expected labels, checks and tools of a turn, in short. */
function TurnExtras({ turn }: { turn: Scenario["interactions"][number] }) {
  const { reference_metadata = {}, checks = [], reference_tools } = turn;
  const labels = Object.entries(reference_metadata);
  if (labels.length === 0 && checks.length === 0 && !reference_tools) return null;
  return (
    <span class="row start-row">
      {labels.map(([key, value]) => (
        <span key={key} class="badge" dir="auto">
          {key}: {typeof value === "string" ? value : JSON.stringify(value)}
        </span>
      ))}
      {checks.length > 0 && <span class="badge">{formatNumberOf(checks.length, "check")}</span>}
      {reference_tools && (
        <span class="badge">{formatNumberOf(reference_tools.length, "tool call")}</span>
      )}
    </span>
  );
}
