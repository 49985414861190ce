import type { StoredGrade } from "../store/grades/grade.ts";
import type { RunReader } from "../store/store.ts";
import type { TurnText } from "../store/turns/turn_record.ts";
import type { TurnReader } from "../store/turns/whole_reader.ts";
import { createGradeJoin } from "./grade_join.ts";
import { viewGrade } from "./grade_view.ts";

/** The same turns, each with its `grades`; a turn without a grade is as it was. */
export function createGradedReader(
  reader: TurnReader,
  store: Pick<RunReader, "grades">,
): TurnReader {
  return {
    tally: reader.tally,
    async *turns(runId) {
      const grades = createGradeJoin(store.grades(runId));
      for await (const turn of reader.turns(runId)) {
        const found = await grades.of(turn);
        yield found.length === 0
          ? turn
          : { ...turn, result: { ...turn.result, grades: found.map(viewGrade) } };
      }
    },
    async *turnPages(runId) {
      const grades = createGradeJoin(store.grades(runId));
      for await (const page of reader.turnPages(runId)) {
        const graded: TurnText[] = [];
        for (const turn of page) graded.push(addGrades(turn, await grades.of(turn)));
        yield graded;
      }
    },
  };
}

function addGrades(turn: TurnText, found: StoredGrade[]): TurnText {
  if (found.length === 0) return turn;
  const result = { ...JSON.parse(turn.resultJson), grades: found.map(viewGrade) };
  return { ...turn, resultJson: JSON.stringify(result) };
}
