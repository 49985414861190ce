import { Button } from "../../../shared/pages/components/button.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Age } from "../../../shared/pages/components/states.tsx";
import { formatBytes, formatCount } from "../../../shared/pages/format.ts";
import type { DatasetVersion } from "../../api/dataset_routes.ts";
import { Section } from "../frame.tsx";
import { meaningOf } from "../glossary.tsx";
import { askToDelete } from "./dataset_actions.tsx";

/** Every version of a dataset, newest first. */
export function Versions({ versions, shown, reload }: {
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
              <Button
                kind="quiet"
                isSmall
                icon="trash"
                aria-label={`Delete version ${version.slice(0, 8)}`}
                onClick={() => askToDelete({ name, version, versions: 1, after: reload })}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}
