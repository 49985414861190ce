import type { StoredGrade } from "../store/grades/grade.ts";
import type { TurnPosition } from "../store/turns/turn_record.ts";

/** Finds the grades of turns that are asked for in the order of the batch. */
interface GradeJoin {
  of(position: TurnPosition): Promise<StoredGrade[]>;
}

/** Reads the grades beside the turns: neither has to fit into memory. */
export function createGradeJoin(grades: AsyncIterable<StoredGrade>): GradeJoin {
  const iterator = grades[Symbol.asyncIterator]();
  let next: IteratorResult<StoredGrade> | undefined;
  return {
    async of(position) {
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
