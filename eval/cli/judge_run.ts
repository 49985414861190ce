import { compareStored } from "../compare/compare_stored.ts";
import { digestRun, type RunDigest } from "../export/digest.ts";
import { describeComparison } from "../export/comparison_text.ts";
import type { ExportSource } from "../export/format.ts";
import { describeRun } from "../export/run_text.ts";
import { HEADLINE, reaches } from "../passing.ts";
import type { RunReader, StoredRun } from "../store/store.ts";
import { EXIT } from "./command.ts";
import { type Gate, thresholdFor } from "./gate.ts";
import { writeOutputs } from "./outputs.ts";
import { terminalForm } from "./terminal_form.ts";
import type { CliWorld } from "./world.ts";

/** Tells of a run that has ended, writes its files, and gives the exit code that it earned. */
export async function judgeRun(
  run: StoredRun,
  gate: Gate,
  { reader, world }: { reader: RunReader; world: CliWorld },
): Promise<number> {
  const threshold = thresholdFor(gate, run);
  const source: ExportSource = { run, reader, threshold };
  const digest = await digestRun(source);
  if (gate.baseline !== undefined) {
    const { baseline, scores } = gate;
    const result = await compareStored(reader, { baseline, candidate: run.id }, { scores });
    source.comparison = { baseline, result };
  }
  world.out.write(describeRun(source, { digest, form: terminalForm }));
  if (source.comparison) world.out.write(describeComparison(source.comparison, terminalForm));
  await writeOutputs(gate.outputs, { source, world });
  const { code, words } = decide({ digest, threshold, gate, source });
  world.out.write(`\n${words}\n`);
  return code;
}

function decide({ digest, threshold, gate, source }: {
  digest: RunDigest;
  threshold: number;
  gate: Gate;
  source: ExportSource;
}): { code: number; words: string } {
  const mean = digest.averages[HEADLINE] ?? null;
  if (digest.turns > 0 && digest.failed === digest.turns) {
    return { code: EXIT.error, words: "failed: the endpoint did not answer a single turn" };
  }
  if (mean === null && gate.threshold !== undefined) {
    return { code: EXIT.error, words: "failed: a threshold was given, but no turn has a score" };
  }
  const regressed = Object.entries(source.comparison?.result.scores ?? {})
    .filter(([, { verdict }]) => verdict === "regressed").map(([name]) => name);
  const faults = [
    // Cut, not rounded: 0.6999 must not read "0.700 is below 0.7".
    ...mean !== null && !reaches(mean, threshold)
      ? [`${HEADLINE} ${Math.floor(mean * 1000) / 1000} is below ${threshold}`]
      : [],
    ...regressed.length > 0 ? [`regressed in ${regressed.join(", ")}`] : [],
  ];
  return faults.length > 0
    ? { code: EXIT.notPassed, words: `not passed: ${faults.join("; ")}` }
    : { code: EXIT.passed, words: "passed" };
}
