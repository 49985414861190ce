import { type CompareOptions, compareRuns } from "../../eval/figures/compare.ts";
import type { ComparedRun, Comparison } from "../../eval/figures/compare_stored.ts";
import type { ComparableRun } from "../../eval/figures/compare/paired_runs.ts";
import { pairReport } from "../../eval/report/compare_report.ts";
import { renderText } from "../../eval/report/text/render.ts";
import type { TextForm } from "../../eval/report/text/text_form.ts";

/** The verdict on two runs, with how it was reached. */
export async function compareTwo(
  { baseline, candidate }: { baseline: ComparableRun; candidate: ComparableRun },
  options: CompareOptions = {},
) {
  const { pairs: [pair], ...verdicts } = await compareRuns([
    { name: "baseline", open: () => baseline },
    { name: "candidate", open: () => candidate },
  ], options);
  return { ...pair!, ...verdicts };
}

export type ComparedTwo = Awaited<ReturnType<typeof compareTwo>>;

/** Such a verdict as the comparison of two stored runs. */
export function asComparison(
  { decided_by, best, tests, min_difference, method, ...pair }: ComparedTwo,
  runs: Partial<ComparedRun>[] = [{}, {}],
): Comparison {
  const rest = { best, tests, ...(min_difference !== undefined && { min_difference }), method };
  return {
    ...rest,
    decided_by,
    pairs: [pair],
    message: "",
    status: "completed",
    progress: NO_PROGRESS,
    runs: runs.map((run) => ({
      run_id: "b",
      model_id: "m",
      pass_rate: null,
      truncated: 0,
      latency_ms: null,
      usage: null,
      progress: NO_PROGRESS,
      ...run,
    } as ComparedRun)),
  };
}

const NO_PROGRESS = { done: 0, failed: 0, missing: 0, total: 0, mean: null, eta_ms: 0 };

/** Such a verdict as text. */
export function describeTwo(result: ComparedTwo, form: TextForm) {
  return renderText(pairReport(asComparison(result)), form);
}

/** The pair of an answer of `GET /compare`, with its runs; an error as it is. */
// deno-lint-ignore no-explicit-any
export function pairIn(answer: any): any {
  if (!answer.pairs) return answer;
  const { pairs: [pair], runs: [baseline, candidate], decided_by, method } = answer;
  return { ...pair, baseline, candidate, decided_by, method };
}
