import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describeGroup } from "../../../eval/export/text/group_text.ts";
import type { GroupModel, GroupPair, GroupReport } from "../../../eval/groups/group_report.ts";
import { terminalForm } from "../../../eval/cli/report/terminal_form.ts";

function model(name: string, overall: Record<string, unknown>): GroupModel {
  const counts = { progress: { done: 9, total: 9, failed: 0 }, errors: [], missing_scores: [] };
  return { name, status: "completed", scores: { overall }, ...counts } as unknown as GroupModel;
}

/** Models of which the first is better than each other one; the others are not told apart. */
function report(models: GroupModel[]): GroupReport {
  const names = models.map(({ name }) => name);
  const pairs = names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate): GroupPair => {
      const verdict = index === 0 ? "regressed" : "inconclusive";
      const reason = index === 0 ? null : "a difference of this size comes up by chance too often";
      const scores = {
        overall: { difference: -0.1, ci95: null, p: 0.5, scenarios: 9, turns_without_pair: 0 },
      };
      const better = index === 0 ? baseline : null;
      return { baseline, candidate, better, verdict, reason, scores } as unknown as GroupPair;
    })
  );
  return {
    test_name: "t",
    group_id: "g",
    status: "completed",
    progress: { done: 9, total: 9, failed: 0 },
    models,
    pairs,
    best: names.slice(0, 1),
    decided_by: "overall",
    tests: pairs.length,
  } as unknown as GroupReport;
}

Deno.test("a group of many models lists the verdicts first, and not every pair three times", () => {
  const models = [..."abcdefghij"].map((name) => model(name, { mean: 0.5, ci95: null }));
  const text = describeGroup(report(models), terminalForm);
  const rows = text.match(/^. − .+$/gm)!;
  assertEquals(rows.length, 20);
  assert(rows.slice(0, 9).every((row) => /^. − a .* a$/.test(row)), rows.join("\n"));
  assertStringIncludes(text, "and 25 more pairs\n");
  assertEquals(text.match(/by chance too often/g)!.length, 1);
  assertMatch(text, /c − b, d − b, e − b, f − b, g − b and 31 more: a difference of this size/);
});

Deno.test("a mean of which scores are missing is shown in a group by its bounds", () => {
  const models = [
    model("whole", { mean: 0.7, ci95: [0.6, 0.8], bounds: null }),
    model("half", { mean: null, ci95: [0.4, 0.9], bounds: [0.5, 0.8] }),
  ];
  const text = describeGroup(report(models), terminalForm);
  assertMatch(text, /half +0\.500 to 0\.800 +0\.400 … 0\.900/);
});
