import { IconButton } from "../../../shared/pages/components/button.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Age, Notice } from "../../../shared/pages/components/states.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import {
  formatBytes,
  formatCount,
  formatDateTime,
  formatNumberOf,
} from "../../../shared/pages/format.ts";
import { navigate, query, setQuery, useSubject } from "../../../shared/pages/location.ts";
import type { DatasetVersion } from "../../http/dataset_routes.ts";
import { listVersions } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { Fact } from "../parts/boxes.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { Shown, useLoaded } from "../loaded.tsx";
import { askToDelete, deletionItem } from "../deletion.tsx";
import {
  datasetDeletion,
  datasetDownloads,
  holdingOut,
  runAddress,
  versionDeletion,
} from "./dataset_actions.tsx";
import { LeaksSection } from "./leaks_section.tsx";
import { ScenarioList } from "./scenario_list.tsx";

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
    <>
      <Shown
        loaded={loaded}
        what="the dataset"
        elsewhere={<Link class="button small" href="/ui/datasets">All datasets</Link>}
      >
        {({ versions, tags }) => {
          const shown = wanted
            ? versions.find(({ version }) => version.startsWith(wanted))
            : versions[0];
          return (
            <>
              <Head name={name} shown={shown} versions={versions} tags={tags} reload={reload} />
              {shown
                ? <ScenarioList dataset={shown} isLatest={shown === versions[0]} onSaved={reload} />
                : (
                  <Notice kind="warn">
                    There is no version {wanted}: it may have been deleted.
                  </Notice>
                )}
              {shown && <LeaksSection key={shown.version} dataset={shown} />}
              <Versions versions={versions} shown={shown} reload={reload} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

function Head({ name, shown, versions, tags, reload }: {
  name: string;
  shown: DatasetVersion | undefined;
  versions: DatasetVersion[];
  tags: string[];
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
        {tags.map((tag) => <span key={tag} class="badge">{tag}</span>)}
        <span class="spacer" />
        <Link class="button" href={`/ui/datasets/new?name=${name}`}>New version</Link>
        <Menu
          button={{ icon: "download", children: "Download" }}
          items={datasetDownloads(name, shown?.version)}
        />
        <Menu
          button={{ icon: "more", "aria-label": "Actions" }}
          items={[
            holdingOut({ name, tags }, reload),
            ...(shown && versions.length > 1
              ? [deletionItem(versionDeletion(shown, reload), "Delete this version")]
              : []),
            deletionItem(
              datasetDeletion({ name, versions: versions.length }, () => navigate("/ui/datasets")),
              "Delete the dataset",
            ),
          ]}
        />
        <Link class="button primary" href={runAddress(dataset)}>New run</Link>
      </div>
      {shown && (
        <dl class="facts">
          <Fact label={<Explained text="Version" />}>
            <code>{shown.version.slice(0, 8)}</code>
          </Fact>
          <Fact label="Size">
            {formatNumberOf(shown.scenarios, "scenario")}, {formatNumberOf(shown.turns, "turn")},
            {" "}
            {formatBytes(shown.bytes)}
          </Fact>
          <Fact label="Written">{formatDateTime(shown.created_at)}</Fact>
        </dl>
      )}
    </div>
  );
}

/** Every version of a dataset, newest first. */
function Versions({ versions, shown, reload }: {
  versions: DatasetVersion[];
  shown: DatasetVersion | undefined;
  reload: () => void;
}) {
  return (
    <Section
      title="Versions"
      hint="The id of a version is a hash of its content. Old versions stay until they are deleted."
    >
      <DataTable
        label="Versions"
        isFlat
        rows={versions}
        keyOf={({ version }) => version}
        isChosen={(one) => one === shown}
        columns={[
          {
            label: "Version",
            means: meaningOf("version"),
            cell: (one, index) => (
              <>
                <Link
                  href={index === 0 ? "?" : `?version=${one.version}`}
                  {...(one === shown && { "aria-current": "true" as const })}
                >
                  <code>{one.version.slice(0, 8)}</code>
                </Link>{" "}
                {index === 0 && <span class="badge">latest</span>}
              </>
            ),
          },
          { label: "Scenarios", isNumber: true, cell: ({ scenarios }) => formatCount(scenarios) },
          {
            label: "Turns",
            isNumber: true,
            isMinor: true,
            cell: ({ turns }) => formatCount(turns),
          },
          { label: "Size", isNumber: true, isMinor: true, cell: ({ bytes }) => formatBytes(bytes) },
          { label: "Written", cell: ({ created_at }) => <Age of={created_at} /> },
          versions.length > 1 && {
            label: "Actions",
            isLabelHidden: true,
            cell: ({ name, version }) => (
              <IconButton
                icon="trash"
                isSmall
                label={`Delete version ${version.slice(0, 8)}`}
                onClick={() => askToDelete(versionDeletion({ name, version }, reload))}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}
