import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { Icon } from "../../../shared/pages/components/icon.tsx";
import { formatBytes, formatDateTime, formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate, query, setQuery, useSubject } from "../../../shared/pages/location.ts";
import type { DatasetVersion } from "../../api/dataset_routes.ts";
import { listVersions } from "../api.ts";
import { Frame } from "../frame.tsx";
import { Explained } from "../glossary.tsx";
import { useLoaded } from "../loaded.ts";
import { askToDelete, DeleteDatasetDialog, downloadItems, runAddress } from "./dataset_actions.tsx";
import { Shown } from "../shown.tsx";
import { ScenarioList } from "./scenario_list.tsx";
import { Versions } from "./versions.tsx";

/** One dataset: its versions, and the scenarios of one of them (`?version=`, else the latest). */
export function DatasetView({ name }: { name: string }) {
  const loaded = useLoaded(() => listVersions(name), [name]);
  useSubject(name);
  const wanted = query.value.get("version");
  const reload = () => {
    setQuery({ version: undefined });
    loaded.reload();
  };
  return (
    <Frame>
      <Shown
        loaded={loaded}
        what="the dataset"
        elsewhere={<Link class="button small" href="/ui/datasets">All datasets</Link>}
      >
        {(versions) => {
          const shown = wanted
            ? versions.find(({ version }) => version.startsWith(wanted))
            : versions[0];
          return (
            <>
              <Head name={name} shown={shown} versions={versions} reload={reload} />
              {shown
                ? <ScenarioList dataset={shown} isLatest={shown === versions[0]} onSaved={reload} />
                : (
                  <div class="notice warn">
                    <Icon name="warning" />
                    <div>There is no version {wanted}: it may have been deleted.</div>
                  </div>
                )}
              <Versions versions={versions} shown={shown} reload={reload} />
            </>
          );
        }}
      </Shown>
      <DeleteDatasetDialog />
    </Frame>
  );
}

function Head({ name, shown, versions, reload }: {
  name: string;
  shown: DatasetVersion | undefined;
  versions: DatasetVersion[];
  reload: () => void;
}) {
  const isLatest = shown === versions[0];
  const dataset = shown && !isLatest ? `${name}@${shown.version}` : name;
  return (
    <div class="run-head">
      <nav class="crumbs" aria-label="Where you are">
        <Link href="/ui/datasets">Datasets</Link>
      </nav>
      <div class="page-head">
        <h2>{name}</h2>
        {shown && (
          <span class={isLatest ? "badge" : "badge warn"}>
            {isLatest ? "latest version" : "older version"}
          </span>
        )}
        <span class="spacer" />
        <Link class="button" href={`/ui/datasets/new?name=${name}`}>New version</Link>
        <Menu
          button={{ icon: "download", children: "Download" }}
          items={downloadItems(name, shown?.version)}
        />
        <Menu
          button={{ icon: "more", "aria-label": "Actions" }}
          items={[
            ...(shown && versions.length > 1
              ? [{
                label: "Delete this version",
                icon: "trash" as const,
                isDanger: true,
                onSelect: () =>
                  askToDelete({ name, version: shown.version, versions: 1, after: reload }),
              }]
              : []),
            {
              label: "Delete the dataset",
              icon: "trash",
              isDanger: true,
              onSelect: () =>
                askToDelete({
                  name,
                  versions: versions.length,
                  after: () => navigate("/ui/datasets"),
                }),
            },
          ]}
        />
        <Link class="button primary" href={runAddress(dataset)}>New run</Link>
      </div>
      {shown && (
        <dl class="facts">
          <div>
            <dt>
              <Explained text="Version" />
            </dt>
            <dd>
              <code>{shown.version.slice(0, 8)}</code>
            </dd>
          </div>
          <div>
            <dt>Size</dt>
            <dd>
              {formatNumberOf(shown.scenarios, "scenario")}, {formatNumberOf(shown.turns, "turn")},
              {" "}
              {formatBytes(shown.bytes)}
            </dd>
          </div>
          <div>
            <dt>Written</dt>
            <dd>{formatDateTime(shown.created_at)}</dd>
          </div>
        </dl>
      )}
    </div>
  );
}
