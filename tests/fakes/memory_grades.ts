import type {
  GradePosition,
  GradeReader,
  GradeWriter,
  StoredGrade,
} from "../../eval/store/grades/grade.ts";
import type { TurnPosition } from "../../eval/store/turns/position.ts";

/** The part of the memory store that holds grades. */
export function memoryGrades(
  { now, hasTurn }: {
    now: () => number;
    hasTurn: (runId: string, position: TurnPosition) => boolean | undefined;
  },
): GradeReader & GradeWriter & { forget(runId: string): void } {
  const byRun = new Map<string, StoredGrade[]>();
  const of = (runId: string) => byRun.get(runId) ?? [];
  const order = (a: GradePosition, b: GradePosition) =>
    a.scenario - b.scenario || a.attempt - b.attempt || a.turn - b.turn ||
    (a.author < b.author ? -1 : Number(a.author > b.author));
  const isAt = ({ scenario, attempt, turn }: TurnPosition) => (grade: StoredGrade) =>
    grade.scenario === scenario && grade.attempt === attempt && grade.turn === turn;

  return {
    async *grades(runId, after) {
      const latest = of(runId).filter((grade) =>
        !grade.withdrawn &&
        !of(runId).some((other) => order(other, grade) === 0 && other.version > grade.version)
      );
      yield* latest.sort(order).filter((grade) => !after || order(grade, after) > 0);
    },
    gradeHistory: (runId, position) =>
      Promise.resolve(
        of(runId).filter(isAt(position)).sort((a, b) =>
          a.createdAt - b.createdAt || order(a, b) || a.version - b.version
        ),
      ),
    // deno-lint-ignore require-await -- the interface's methods are asynchronous
    async saveGrade(runId, { scenario, attempt, turn }, grade) {
      const position = { scenario, attempt, turn };
      if (!hasTurn(runId, position)) return undefined;
      const latest = of(runId).filter(isAt(position))
        .findLast(({ author }) => author === grade.author);
      const isSame = latest && !latest.withdrawn && latest.value === grade.value &&
        latest.label === grade.label &&
        latest.comment === grade.comment;
      if (isSame) return latest;
      const version = (latest?.version ?? 0) + 1;
      const stored = { ...position, ...grade, version, createdAt: now() };
      byRun.set(runId, [...of(runId), stored]);
      return stored;
    },
    // deno-lint-ignore require-await -- as above
    async withdrawGrade(runId, position) {
      const latest = of(runId).filter(isAt(position))
        .findLast(({ author }) => author === position.author);
      if (!latest || latest.withdrawn) return undefined;
      const { version } = latest;
      const stored: StoredGrade = {
        ...latest,
        version: version + 1,
        createdAt: now(),
        withdrawn: true,
      };
      byRun.set(runId, [...of(runId), stored]);
      return stored;
    },
    forget: (runId) => void byRun.delete(runId),
  };
}
