import { IconButton } from "../../../shared/pages/components/button.tsx";
import { Age } from "../../../shared/pages/components/states.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { formatScore } from "../../../shared/pages/format.ts";
import type { PlacedGrade } from "../../test/grades.ts";
import { Section } from "../parts/section.tsx";
import { Shown } from "../loaded.tsx";
import { source } from "../source.ts";
import { readPages, usePages } from "../parts/paging.tsx";
import { tryAction } from "../actions.tsx";
import { placeOf } from "../words.ts";
import { authorName } from "./grading.tsx";

const PAGE = 100;

/** The grades of a run one by one, in the order of its batch. */
export function GradedTurns({ runId, count, onChange }: {
  runId: string;
  /** If it changes, they are read again. */
  count: number;
  onChange: () => void;
}) {
  const { loaded, more } = usePages(
    (pages) =>
      readPages("grades", (cursor) => source.grades!(runId, { limit: PAGE, cursor }), pages),
    [runId, count],
  );
  return (
    <Section title="Grades">
      <Shown loaded={loaded} what="the grades">
        {({ rows }) => (
          <Rows
            grades={rows}
            onDelete={(grade) =>
              tryAction(async () => {
                await source.deleteGrade!(runId, placeOf(grade), grade.author ?? "");
                onChange();
                return "The grade is deleted.";
              })}
          />
        )}
      </Shown>
      {more}
    </Section>
  );
}

function Rows({ grades, onDelete }: {
  grades: PlacedGrade[];
  onDelete: (grade: PlacedGrade) => void;
}) {
  return (
    <DataTable
      label="Grades"
      isFlat
      rows={grades}
      keyOf={(grade) => `${placeOf(grade)} ${grade.author}`}
      columns={[
        {
          label: "Turn",
          cell: (grade) => (
            <Link href={`?turn=${placeOf(grade)}`}>
              <span dir="auto">{grade.scenario_id}</span>,{" "}
              <span class="muted">{`turn ${grade.turn + 1}, attempt ${grade.attempt_id}`}</span>
            </Link>
          ),
        },
        { label: "Person", cell: ({ author }) => <span dir="auto">{authorName(author)}</span> },
        { label: "Grade", isNumber: true, cell: ({ value }) => formatScore(value) },
        {
          label: "Label",
          isMinor: true,
          cell: ({ label }) => label && <span class="badge" dir="auto">{label}</span>,
        },
        {
          label: "Comment",
          isMinor: true,
          cell: ({ comment }) => <div class="comment" dir="auto">{comment}</div>,
        },
        { label: "When", isMinor: true, cell: ({ created_at }) => <Age of={created_at} /> },
        {
          label: "Delete",
          isLabelHidden: true,
          cell: (grade) => (
            <IconButton
              icon="trash"
              isSmall
              label={`Delete the grade of ${grade.scenario_id} by ${authorName(grade.author)}`}
              onClick={() => onDelete(grade)}
            />
          ),
        },
      ]}
    />
  );
}
