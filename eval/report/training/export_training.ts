import { conflict } from "../../../shared/service/errors.ts";
import { counted } from "../../../shared/service/text.ts";
import type { JudgeModel } from "../../score/judge_model.ts";
import { compareByJudge } from "../../figures/judge_preference.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import type { TrainingForm } from "./forms.ts";
import { type JudgedPair, type LeftOutTurns, readTrainingData } from "./training_rows.ts";

/** A file for training, and what is not in it. */
export interface TrainingFile {
  lines: string[];
  leftOut: LeftOutTurns;
}

/**
 * Replies of some runs as a file for training. With a judge, it is asked which replies of each two
 * runs are better. Throws 409 if nothing can be learnt from the runs, or if one is running or of a
 * dataset that is held out.
 */
export async function exportTraining(
  reader: RunReader,
  { runs, form, judge, signal }: {
    runs: StoredRun[];
    form: TrainingForm;
    judge?: JudgeModel | undefined;
    signal: AbortSignal;
  },
): Promise<TrainingFile> {
  const options = { runs, kind: form.kind };
  let { rows, leftOut } = await readTrainingData(reader, options); // before the judge costs anything
  if (judge) {
    const preferences = await judgePairs(reader, { runs, judge, signal });
    ({ rows, leftOut } = await readTrainingData(reader, { ...options, preferences }));
  }
  if (rows.length === 0) throw conflict(`cannot export ${form.name}: ${whyEmpty(form, leftOut)}`);
  return { lines: rows.map((row) => `${JSON.stringify(form.toLine(row))}\n`), leftOut };
}

async function judgePairs(
  reader: RunReader,
  { runs, judge, signal }: { runs: StoredRun[]; judge: JudgeModel; signal: AbortSignal },
): Promise<JudgedPair[]> {
  const pairs: JudgedPair[] = [];
  for (const [index, { id: baseline }] of runs.entries()) {
    for (const { id: candidate } of runs.slice(index + 1)) {
      await compareByJudge(reader, { baseline, candidate }, {
        judge,
        signal,
        onPreference: (chosen, rejected) => pairs.push({ chosen, rejected, judge: judge.name }),
      });
    }
  }
  return pairs;
}

function whyEmpty({ kind }: TrainingForm, leftOut: LeftOutTurns): string {
  const what = kind === "dpo"
    ? "no reply has a correction, or a better reply to the same prompt; write what failing " +
      "replies should have said, or export several attempts or runs of the same batch"
    : "no reply passed or has a correction; write what failing replies should have said";
  const left = leftOutText(leftOut);
  return left ? `${what} (left out: ${left})` : what;
}

/** `3 turns: tests of another dataset`; empty if nothing was left out. */
export function leftOutText(leftOut: LeftOutTurns): string {
  return Object.entries(leftOut)
    .map(([reason, count]) => `${counted(count, "turn")}: ${reason.replaceAll("_", " ")}`)
    .join(", ");
}
