import { mean } from "../score/mean.ts";
import type { RunLeaks } from "../test/leaks.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/whole_reader.ts";
import { viewCheck } from "./check_leaks.ts";

/**
 * The mean `overall` of a run over scenarios that no training file has, and over those that one
 * has: each scenario counts once. A run of a batch counts if a dataset has the same content.
 */
export async function readRunLeaks(reader: RunReader, run: StoredRun): Promise<RunLeaks> {
  const checks = await reader.leakChecks(run.batchDigest);
  const leaked = new Set(checks.flatMap(({ found }) => [...found.word_for_word, ...found.near]));
  const scores = new Map<number, number[]>();
  for await (const { scenario, result } of turnsSoFar(reader, run)) {
    const { overall = null } = result.scores;
    if (overall === null) continue;
    scores.getOrInsertComputed(scenario, () => []).push(overall);
  }
  const describe = (isLeaked: boolean) => {
    const means = [...scores].filter(([scenario]) => leaked.has(scenario) === isLeaked)
      .map(([, values]) => mean(values)!);
    return { scenarios: means.length, mean: mean(means) };
  };
  return {
    run_id: run.id,
    checks: checks.map((check) => viewCheck(run.batchDigest, check)),
    clean: describe(false),
    leaked: describe(true),
  };
}

/** The same for a report; `undefined` if the scenarios were not checked. */
export async function readLeaksIfChecked(
  reader: RunReader,
  run: StoredRun,
): Promise<RunLeaks | undefined> {
  const checks = await reader.leakChecks(run.batchDigest);
  return checks.length > 0 ? await readRunLeaks(reader, run) : undefined;
}
