import { invalidParameter } from "../../shared/errors.ts";

/** Throws 400 for a score that is not among the `names` of a run. `parameter` has asked for it. */
export function requireScores(
  names: ReadonlySet<string>,
  { wanted, parameter }: { wanted: string[]; parameter: string },
): void {
  const unknown = wanted.filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const message = `the run has no ${unknown.join(", ")}; its scores are ${[...names].join(", ")}`;
  throw invalidParameter(parameter, message);
}
