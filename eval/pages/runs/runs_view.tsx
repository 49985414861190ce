import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiProblem } from "../../../shared/pages/api_problem.ts";
import { Button } from "../../../shared/pages/components/button.tsx";
import { ConfirmDialog } from "../../../shared/pages/components/dialog.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Empty, Loading } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query, setQuery } from "../../../shared/pages/location.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import { tryAction } from "../actions.tsx";
import { deleteRun, listRuns } from "../api.ts";
import { Trend, trendChoices, trendLabel } from "../charts/trend.tsx";
import { Section } from "../parts/section.tsx";
import { Failed, Shown, useLoaded } from "../loaded.tsx";
import { RescoreDialog } from "../rescoring.tsx";
import { ChangeRunDialog } from "../run_actions.tsx";
import { MoreButton } from "../parts/paging.tsx";
import { Select } from "../parts/fields.tsx";
import { SearchField } from "../parts/search_field.tsx";
import { startExample } from "./example.ts";
import { followRuns, hasMore, listProblem, refreshList, runs, showMore } from "./run_list.ts";
import { SavedFilters } from "../saved_filters.tsx";
import { FoundTurns } from "./found_turns.tsx";
import { RunsTable } from "./runs_table.tsx";

const STATUSES: Run["status"][] = ["running", "completed", "cancelled", "interrupted", "failed"];

/** All runs: the view that the dashboard opens with. */
export function RunsView() {
  const parameters = readParameters();
  const chosen = useSignal<string[]>([]);
  const isDeleting = useSignal(false);
  const key = JSON.stringify(parameters);
  useEffect(() => followRuns(parameters), [key]);
  useEffect(() => () => void (runs.value = undefined), []);
  const isFiltered = Boolean(parameters.text || parameters.status || parameters.test_name);
  return (
    <>
      <div class="page-head">
        <h2>Runs</h2>
        <RunFilters />
        <span class="spacer" />
        <Button
          icon="columns"
          disabled={chosen.value.length < 2}
          title="Choose two or more runs to compare them"
          onClick={() => navigate(compareAddress(chosen.value))}
        >
          Compare
        </Button>
        {chosen.value.length > 0 && (
          <Button
            kind="danger"
            icon="trash"
            onClick={() => isDeleting.value = true}
          >
            {`Delete ${formatNumberOf(chosen.value.length, "run")}`}
          </Button>
        )}
        <Link class="button primary" href="/ui/new">New run</Link>
      </div>
      <SavedFilters of="runs" text={describeFilters()} />
      {parameters.test_name && <TestTrend name={parameters.test_name} />}
      <Failed problem={listProblem.value} retry={refreshList} />
      {runs.value === undefined
        ? !listProblem.value && <Loading what="the runs" />
        : runs.value.length === 0
        ? <NoRuns isFiltered={isFiltered} />
        : <RunsTable runs={runs.value} chosen={chosen} />}
      {hasMore.value && <MoreButton onMore={showMore} />}
      {parameters.text && <FoundTurns key={parameters.text} text={parameters.text} />}
      <ChangeRunDialog />
      <RescoreDialog />
      {isDeleting.value && (
        <ConfirmDialog
          title={`Delete ${formatNumberOf(chosen.value.length, "run")}?`}
          action="Delete"
          onConfirm={() =>
            tryAction(async () => {
              for (const id of chosen.value) await deleteRun(id);
              chosen.value = [];
              refreshList();
              return "The runs are deleted.";
            })}
          onClose={() => isDeleting.value = false}
        >
          <p>They will be gone for good, for everybody.</p>
        </ConfirmDialog>
      )}
    </>
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
  const [baseline, candidate, third] = ids.toSorted();
  if (third) return `/ui/compare?runs=${ids.toSorted()}`;
  return `/ui/compare?baseline=${baseline}&candidate=${candidate}`;
}

function RunFilters() {
  return (
    <search class="filters">
      <SearchField
        label="Search by name, model, tag or id, and in conversations"
        placeholder="Search runs and texts"
      />
      <Select
        aria-label="Status"
        options={[["", "Any status"], ...STATUSES.map((status) => [status, status] as const)]}
        value={query.value.get("status") ?? ""}
        onChoose={(status) => setQuery({ status })}
      />
    </search>
  );
}

/** The filters in words; empty if there are none. */
function describeFilters(): string {
  const { text, status, test_name } = readParameters();
  return [test_name, text && `“${text}”`, status].filter(Boolean).join(", ");
}

function TestTrend({ name }: { name: string }) {
  const ended = runs.value?.filter(({ headline }) => headline).map(({ run_id }) => run_id);
  const loaded = useLoaded(() => listRuns({ test_name: name, status: "completed", limit: 100 }), [
    name,
    ended,
  ]);
  const choice = query.value.get("trend") ?? "overall";
  const choices = trendChoices(loaded.value?.runs ?? []);
  return (
    <Section
      title={`Trend of ${name}`}
      hint={`A line per model: ${trendLabel(choice)} of each run, oldest first`}
      actions={
        <span class="row">
          <Select
            aria-label="What the trend shows"
            options={choices.map((one) => [one, trendLabel(one)])}
            value={choice}
            onChoose={(trend) => setQuery({ trend })}
          />
          <Button isSmall icon="close" onClick={() => setQuery({ test: undefined })}>
            All tests
          </Button>
        </span>
      }
    >
      <Shown loaded={loaded} what="the trend">
        {({ runs }) => (
          <div class="scroll-x">
            <Trend runs={runs.toReversed()} choice={choice} />
          </div>
        )}
      </Shown>
    </Section>
  );
}

async function tryExample(): Promise<void> {
  try {
    navigate(await startExample());
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const message = `The example asks assay-agent, as deno task dev starts it: ${error.message}`;
    throw new ApiProblem(message, error);
  }
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
      <div class="start">
        <Button kind="primary" onClick={() => tryAction(tryExample)}>Try an example</Button>
        <Link class="button" href="/ui/new">New run</Link>
      </div>
      <p class="small">
        The example compares the two models of assay-agent's demo on eight conversations.
      </p>
    </Empty>
  );
}
