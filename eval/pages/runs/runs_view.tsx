import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Empty, Loading, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { navigate, query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../api/run_schemas.ts";
import { listRuns } from "../api.ts";
import { Trend } from "../charts/trend.tsx";
import { Frame, Section } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { DeleteRunDialog } from "../run_actions.tsx";
import { SearchField } from "../search_field.tsx";
import { Shown } from "../shown.tsx";
import { followRuns, hasMore, listProblem, refreshList, runs, showMore } from "./run_list.ts";
import { RunsTable } from "./runs_table.tsx";

const STATUSES: Run["status"][] = ["running", "completed", "cancelled", "interrupted", "failed"];

/** All runs: the view that the dashboard opens with. */
export function RunsView() {
  const parameters = readParameters();
  const chosen = useSignal<string[]>([]);
  const key = JSON.stringify(parameters);
  useEffect(() => followRuns(parameters), [key]);
  useEffect(() => () => void (runs.value = undefined), []);
  const isFiltered = Boolean(parameters.text || parameters.status || parameters.test_name);
  return (
    <Frame>
      <div class="page-head">
        <h2>Runs</h2>
        <RunFilters />
        <span class="spacer" />
        <Button
          icon="columns"
          disabled={chosen.value.length !== 2}
          title="Choose two runs to compare them"
          onClick={() => navigate(compareAddress(chosen.value))}
        >
          Compare
        </Button>
        <Link class="button primary" href="/ui/new">New run</Link>
      </div>
      {parameters.test_name && <TestTrend name={parameters.test_name} />}
      {listProblem.value && (
        <ProblemNotice problem={listProblem.value}>
          <Button isSmall icon="retry" onClick={refreshList}>Try again</Button>
        </ProblemNotice>
      )}
      {runs.value === undefined
        ? !listProblem.value && <Loading what="the runs" />
        : runs.value.length === 0
        ? <NoRuns isFiltered={isFiltered} />
        : <RunsTable runs={runs.value} chosen={chosen} />}
      {hasMore.value && (
        <div class="more">
          <Button onClick={showMore}>Show more</Button>
        </div>
      )}
      <DeleteRunDialog />
    </Frame>
  );
}

function readParameters() {
  const read = (name: string) => query.value.get(name) ?? undefined;
  return {
    text: read("q"),
    status: read("status"),
    test_name: read("test"),
    sort: read("sort"),
  };
}

/** The older of two runs is the baseline; their ids are in the order of time. */
function compareAddress(ids: string[]): string {
  const [baseline, candidate] = ids.toSorted();
  return `/ui/compare?baseline=${baseline}&candidate=${candidate}`;
}

function RunFilters() {
  return (
    <search class="filters">
      <SearchField label="Search by name, model or id" placeholder="Name, model or id" />
      <select
        class="input auto"
        aria-label="Status"
        value={query.value.get("status") ?? ""}
        onChange={({ currentTarget: { value } }) => setQuery({ status: value })}
      >
        <option value="">Any status</option>
        {STATUSES.map((status) => <option key={status} value={status}>{status}</option>)}
      </select>
    </search>
  );
}

function TestTrend({ name }: { name: string }) {
  const ended = runs.value?.filter(({ headline }) => headline).map(({ run_id }) => run_id);
  const loaded = useLoaded(() => listRuns({ test_name: name, limit: 100 }), [name, ended]);
  return (
    <Section
      title={`Trend of ${name}`}
      hint="Mean overall score of each run, oldest first, with its 95% interval"
      actions={
        <Button isSmall icon="close" onClick={() => setQuery({ test: undefined })}>
          All tests
        </Button>
      }
    >
      <Shown loaded={loaded} what="the trend">
        {({ runs }) => (
          <div class="scroll-x">
            <Trend runs={runs.toReversed()} />
          </div>
        )}
      </Shown>
    </Section>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty icon="search" title="No run fits">
        <p>No run has this name, model and status.</p>
        <Button onClick={() => navigate("/")}>Show all runs</Button>
      </Empty>
    );
  }
  return (
    <Empty icon="test" title="No runs yet">
      <p>
        A run sends test conversations to a model and scores its replies. Start one here, from the
        command line or by the API.
      </p>
      <Link class="button primary" href="/ui/new">New run</Link>
    </Empty>
  );
}
