import { groupSources } from "../../export/export_source.ts";
import { describeGroup } from "../../export/text/group_text.ts";
import type { RunStore } from "../../store/store.ts";
import { EXIT } from "../command.ts";
import type { CliContext } from "../context.ts";
import { writeEach } from "./outputs.ts";
import type { PassCriteria } from "../pass_criteria.ts";
import { judgeRun } from "./report_run.ts";
import { storedGroups } from "../find_run.ts";
import { terminalForm } from "./terminal_form.ts";

/**
 * Reports on a group whose runs are complete: the table, the verdicts, and whether each model
 * passes by itself. Writes its files and returns its exit code: that of the worst model.
 */
export async function reportGroup(
  id: string,
  criteria: PassCriteria,
  { store, context }: { store: RunStore; context: CliContext },
): Promise<number> {
  const report = await storedGroups(store).report(id, { decideBy: criteria.decideBy });
  context.out.write(describeGroup(report, terminalForm));
  context.out.write("\n");
  const codes: number[] = [];
  for (const { run_id, name } of report.models) {
    const run = (await store.getRun(run_id))!;
    const { code, words } = await judgeRun(run, criteria, store);
    context.out.write(`${terminalForm.name(name)}: ${words}\n`);
    codes.push(code);
  }
  const runs = () => groupSources(store, { ...report, threshold: criteria.threshold });
  await writeEach(criteria.outputs, {
    context,
    pieces: ({ format }) => format.writeGroup({ report, runs }),
  });
  return [EXIT.error, EXIT.notPassed].find((code) => codes.includes(code)) ?? EXIT.passed;
}
