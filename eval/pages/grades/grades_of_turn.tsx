import {
  formatAge,
  formatDateTime,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { Grade } from "../../schemas/grades.ts";
import type { TurnGrades } from "../../api/grade_routes.ts";

/** The latest grade of each person, and beneath them what they said before. */
export function GradesOfTurn({ grades, history }: TurnGrades) {
  if (grades.length === 0) return <p class="muted small">Nobody has graded this turn yet.</p>;
  return (
    <>
      <ul class="reasons">
        {grades.map((grade) => <GradeRow key={grade.author ?? ""} grade={grade} />)}
      </ul>
      {history.length > grades.length && (
        <details class="as-table">
          <summary>{formatNumberOf(history.length, "grade")} so far</summary>
          <ul class="reasons">
            {history.toReversed().map((grade) => (
              <GradeRow key={`${grade.author} ${grade.version}`} grade={grade} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function GradeRow({ grade }: { grade: Grade }) {
  const { value, author, label, comment, version, created_at } = grade;
  return (
    <li>
      <strong class="number">{formatScore(value)}</strong>
      <span>
        <span dir="auto">{authorName(author)}</span>{" "}
        {label && <span class="badge" dir="auto">{label}</span>}{" "}
        <span class="muted small" title={formatDateTime(created_at)}>
          {formatAge(created_at)}
          {version > 1 && `, version ${version}`}
        </span>
        {comment && <div class="comment" dir="auto">{comment}</div>}
      </span>
    </li>
  );
}

/** Grades without an author share one name. */
export function authorName(author: string | null): string {
  return author ?? "somebody";
}
