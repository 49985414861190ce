import type { StoredGrade } from "../store/grades.ts";
import type { RunReader } from "../store/store.ts";
import type { TurnPosition, TurnText } from "../store/turn_record.ts";
import type { TurnReader } from "../store/whole_reader.ts";
import type { Grade, GradeInput, PlacedGrade } from "../test/grades.ts";
import type { StoredRun } from "../store/run_record.ts";

/** Adds `grades` to the turns that have any. */
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

/** A grade as it was sent, to be stored. */
export function toGrade({ value, label, comment, corrected_reply, author = "" }: GradeInput) {
  return {
    value,
    label: label ?? null,
    comment: comment ?? null,
    correctedReply: corrected_reply ?? null,
    author,
  };
}

/** A grade in answers. */
export function viewGrade(
  { value, label, comment, correctedReply, author, createdAt }: StoredGrade,
): Grade {
  return {
    value,
    label,
    comment,
    corrected_reply: correctedReply,
    author: author === "" ? null : author,
    created_at: new Date(createdAt).toISOString(),
  };
}

/** A grade in lists, with its position. */
export function placeGrade(grade: StoredGrade, { request }: StoredRun): PlacedGrade {
  return {
    scenario: grade.scenario,
    scenario_id: request.test_batch[grade.scenario]?.id ?? "",
    attempt_id: grade.attempt + 1,
    turn: grade.turn,
    ...viewGrade(grade),
  };
}

/**
 * Finds the grades of turns, which must be requested in the order of the batch. Reads grades along
 * with turns, so that neither has to fit into memory.
 */
export function createGradeJoin(grades: AsyncIterable<StoredGrade>) {
  const iterator = grades[Symbol.asyncIterator]();
  let next: IteratorResult<StoredGrade> | undefined;
  return {
    async of(position: TurnPosition): Promise<StoredGrade[]> {
      const found: StoredGrade[] = [];
      next ??= await iterator.next();
      while (!next.done) {
        const order = compare(next.value, position);
        if (order > 0) break;
        if (order === 0) found.push(next.value);
        next = await iterator.next();
      }
      return found;
    },
  };
}

function compare(a: TurnPosition, b: TurnPosition): number {
  return a.scenario - b.scenario || a.attempt - b.attempt || a.turn - b.turn;
}
