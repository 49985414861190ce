import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describeGroup } from "../../../eval/export/text/group_text.ts";
import type { GroupModel, GroupPair, GroupReport } from "../../../eval/groups/group_report.ts";
import { terminalForm } from "../../../eval/cli/report/terminal_form.ts";

const NONE = { baseline: 0, candidate: 0 };

function model(name: string, overall: Record<string, unknown>): GroupModel {
  const counts = { progress: { done: 9, total: 9, failed: 0 }, errors: [], missing_scores: [] };
  return { name, status: "completed", scores: { overall }, ...counts } as unknown as GroupModel;
}

/** Models of which the first is better than each other one; the others are not told apart. */
function report(models: GroupModel[], missing = NONE): GroupReport {
  const names = models.map(({ name }) => name);
  const pairs = names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate): GroupPair => {
      const verdict = index === 0 ? "regressed" : "inconclusive";
      const reason = index === 0 ? null : "a difference of this size comes up by chance too often";
      const compared = { difference: -0.1, ci95: null, p_adjusted: 0.5, verdict, reason, missing };
      const planning = { scenarios: 40, power: 0.8, alpha: 0.05 };
      const scores = { overall: { ...compared, scenarios: 9, turns_without_pair: 0, planning } };
      return { baseline, candidate, verdict, scores } as unknown as GroupPair;
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
    method: { scores: ["overall"], tests: pairs.length },
  } as unknown as GroupReport;
}

Deno.test("a group of many models lists the verdicts first, and not every pair three times", () => {
  const models = [..."abcdefghij"].map((name) => model(name, { mean: 0.5, ci95: null }));
  const text = describeGroup(report(models), terminalForm);
  const rows = text.match(/^. − .+$/gm)!;
  assertEquals(rows.length, 20);
  assert(rows.slice(0, 9).every((row) => /^. − a .* a +about 40$/.test(row)), rows.join("\n"));
  assertStringIncludes(text, "and 25 more comparisons\n");
  assertEquals(text.match(/by chance too often/g)!.length, 1);
  assertMatch(text, /c − b, d − b, e − b, f − b, g − b and 31 more: a difference of this size/);
});

Deno.test("a group whose scores are of unequally many scenarios does not give them one number", () => {
  const group = report([..."ab"].map((name) => model(name, { mean: 0.5, ci95: null })));
  const plan = () => describeGroup(group, terminalForm).match(/; these are (.*)/)?.[1];
  assertEquals(plan(), "9");
  const { scores } = group.pairs![0]!;
  scores.judge = { ...scores.overall!, scenarios: 3 };
  assertEquals(plan(), "3 to 9");
});

Deno.test("a mean that lacks scores stands in a group beside the bounds of all turns", () => {
  const models = [
    model("whole", { mean: 0.7, ci95: [0.6, 0.8], bounds: null }),
    model("half", { mean: 0.9, ci95: [0.8, 1], bounds: [0.5, 0.8] }),
  ];
  const text = describeGroup(report(models, { baseline: 0, candidate: 4 }), terminalForm);
  assertMatch(text, /half +0\.900 .* 0\.500 … 0\.800/);
  assertStringIncludes(text, "bounds are over all");
  assertStringIncludes(text, "Two models are compared by the scores that both have\n");
  const whole = describeGroup(report(models.slice(0, 1)), terminalForm);
  assert(!whole.includes("bounds"), whole);
});
