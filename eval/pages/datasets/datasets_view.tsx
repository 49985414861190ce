import { Age, Empty } from "../../../shared/pages/components/states.tsx";
import { Button } from "../../../shared/pages/components/button.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatBytes, formatCount } from "../../../shared/pages/format.ts";
import { query, setQuery } from "../../../shared/pages/location.ts";
import { RowMenu } from "../actions.tsx";
import type { Dataset } from "../../http/dataset_routes.ts";
import { listDatasets } from "../api.ts";
import { meaningOf } from "../glossary.tsx";
import { Shown } from "../loaded.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { SearchField } from "../parts/search_field.tsx";
import { datasetActions, runAddress } from "./dataset_actions.tsx";

const PAGE = 200;

/** All datasets, by name. */
export function DatasetsView() {
  const { loaded, more } = usePages(
    (count) => readPages("datasets", (cursor) => listDatasets({ limit: PAGE, cursor }), count),
    [],
  );
  const wanted = (query.value.get("q") ?? "").toLowerCase();
  return (
    <>
      <div class="page-head">
        <h2>Datasets</h2>
        <search class="filters">
          <SearchField label="Search the datasets" placeholder="Search datasets" />
        </search>
        <span class="spacer" />
        <Link class="button" href="/ui/datasets/add">Add a scenario</Link>
        <Link class="button primary" href="/ui/datasets/new">New dataset</Link>
      </div>
      <Shown loaded={loaded} what="the datasets">
        {({ rows }) => {
          const shown = rows.filter(({ name }) => name.toLowerCase().includes(wanted));
          return (
            <>
              {shown.length > 0
                ? <DatasetsTable datasets={shown} reload={loaded.reload} />
                : <NoDatasets isFiltered={wanted !== ""} />}
              {more}
            </>
          );
        }}
      </Shown>
    </>
  );
}

function DatasetsTable({ datasets, reload }: { datasets: Dataset[]; reload: () => void }) {
  return (
    <DataTable
      label="Datasets"
      class="runs"
      rows={datasets}
      keyOf={({ name }) => name}
      columns={[
        {
          label: "Name",
          cell: ({ name, tags }) => (
            <>
              <Link class="name" href={`/ui/dataset/${name}`}>{name}</Link>{" "}
              {tags.map((tag) => <span key={tag} class="badge">{tag}</span>)}
            </>
          ),
        },
        { label: "Scenarios", isNumber: true, cell: ({ scenarios }) => formatCount(scenarios) },
        { label: "Turns", isNumber: true, isMinor: true, cell: ({ turns }) => formatCount(turns) },
        { label: "Size", isNumber: true, isMinor: true, cell: ({ bytes }) => formatBytes(bytes) },
        { label: "Versions", isNumber: true, cell: ({ versions }) => formatCount(versions) },
        {
          label: "Latest version",
          means: meaningOf("version"),
          isMinor: true,
          cell: ({ version }) => <code>{version.slice(0, 8)}</code>,
        },
        { label: "Changed", cell: ({ updated_at }) => <Age of={updated_at} /> },
        {
          label: "Actions",
          isLabelHidden: true,
          isMinor: true,
          cell: (dataset) => (
            <span class="row-actions">
              <Link class="button small" href={runAddress(dataset.name)}>Run</Link>
              <RowMenu of={dataset.name} items={datasetActions(dataset, reload)} />
            </span>
          ),
        },
      ]}
    />
  );
}

function NoDatasets({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty icon="search" title="No dataset fits">
        <Button onClick={() => setQuery({ q: undefined })}>Show all datasets</Button>
      </Empty>
    );
  }
  return (
    <Empty icon="book" title="No datasets yet">
      <p>
        A dataset keeps test conversations under a name, with every version of them. Upload a file
        here, from the command line or by the API; then choose the dataset in a new run.
      </p>
      <Link class="button primary" href="/ui/datasets/new">New dataset</Link>
    </Empty>
  );
}
