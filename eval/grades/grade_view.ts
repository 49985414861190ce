import type { Grade, PlacedGrade } from "../schemas/grades.ts";
import type { StoredGrade } from "../store/grades/grade.ts";
import type { StoredRun } from "../store/runs/run_record.ts";

/** A grade as callers see it. */
export function viewGrade(
  { value, label, comment, author, version, createdAt, withdrawn }: StoredGrade,
): Grade {
  return {
    value,
    label,
    comment,
    author: author === "" ? null : author,
    version,
    created_at: new Date(createdAt).toISOString(),
    ...(withdrawn && { withdrawn }),
  };
}

/** A grade with its position, as lists show it. */
export function placeGrade(grade: StoredGrade, { request }: StoredRun): PlacedGrade {
  return {
    scenario: grade.scenario,
    scenario_id: request.test_batch[grade.scenario]?.id ?? "",
    attempt_id: grade.attempt + 1,
    turn: grade.turn,
    ...viewGrade(grade),
  };
}
