import { assert, assertMatch, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { describeComparison } from "../../../eval/export/text/comparison_text.ts";
import { terminalForm } from "../../../eval/cli/report/terminal_form.ts";
import { recordedRun, type RecordedScore } from "../../fakes/recorded_run.ts";

const PLACES = [...Array(20).keys()];

/** The report of twenty scenarios with one turn each. */
async function report(
  before: (index: number) => RecordedScore,
  now: (index: number) => RecordedScore,
): Promise<string> {
  const run = (score: typeof before) =>
    recordedRun(PLACES.map((index) => [`s${index}`, [["t", score(index)]]]));
  const result = await compareRuns({ baseline: run(before), candidate: run(now) });
  return describeComparison({ baseline: "b", result }, terminalForm);
}

Deno.test("a run that is better in other scores only is not called better", async () => {
  const text = await report(
    (index) => ({ overall: 0.8, bleu: 0.4, chrf: 0.4, rouge_1: 0.4 + index / 100 }),
    (index) => ({ overall: index % 2 ? 0.9 : 0.7, bleu: 0.6, chrf: 0.6, rouge_1: 0.7 }),
  );
  assertStringIncludes(text, "Compared with b: overall inconclusive\n");
  assert(!text.includes("improved\n"), text);
});

Deno.test("two runs that did the same are said not to differ", async () => {
  const text = await report((index) => index / 20, (index) => index / 20);
  assertStringIncludes(text, "overall: no scenario differs\n");
  assert(!text.includes("by chance"), text);
});

Deno.test("failed calls take one line, however many scores there are", async () => {
  const scores = (index: number, drop: number) =>
    Object.fromEntries(
      ["overall", "bleu", "chrf", "rouge_1"].map((name) => [name, 0.6 + index / 100 - drop]),
    );
  const failed = { code: "provider_error", status: 500, detail: "" };
  const text = await report(
    (index) => scores(index, 0),
    (index) =>
      index === 0
        ? { scores: { overall: 0, bleu: 0, chrf: 0, rouge_1: 0 }, error: failed }
        : scores(index, index % 2 ? 0.3 : -0.2),
  );
  const lines = text.split("\n").filter((line) => line.includes("not answered"));
  assert(lines.length === 1, text);
  assertMatch(
    lines[0]!,
    /0 calls of the baseline and 1 of the candidate were not answered; .* of overall /,
  );
});

Deno.test("a report says that overall was computed again if a part of it is not compared", async () => {
  const scored = (judge: string | null): RecordedScore => ({
    scores: { overall: 0.7, semantic_similarity: 0.6, judge: judge === null ? null : 0.8 },
    ...(judge === null && { missing_scores: { judge: "judge_unavailable" } }),
  });
  const note = "overall is computed without judge where that cannot be compared";
  assertStringIncludes(await report(() => scored("yes"), () => scored(null)), note);
  assert(!(await report(() => scored("yes"), () => scored("yes"))).includes(note));
});
