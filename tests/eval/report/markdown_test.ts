import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { terminalForm } from "../../../eval/report/text/terminal_form.ts";
import { markdown, markdownForm } from "../../../eval/report/formats/markdown.ts";
import { compareReport } from "../../../eval/report/compare_report.ts";
import { agreementSection } from "../../../eval/report/run_report.ts";
import { renderText } from "../../../eval/report/text/render.ts";
import { showCost } from "../../../eval/report/text/text_form.ts";
import { describeAgreement, type GradedTurn } from "../../../eval/figures/rater_agreement.ts";
import type { ComparedPair } from "../../../eval/figures/comparison.ts";
import type { ComparedRun, Comparison } from "../../../eval/figures/compare_stored.ts";
import type { AgreementLabel } from "../../../eval/test/interaction_result.ts";
import { recordedRun, type RecordedScore } from "../../fakes/recorded_run.ts";
import {
  failedTurn,
  incompleteTurn,
  storedRun,
  type StoredScenario,
  textOf,
} from "../../fakes/stored_run.ts";
import { asComparison, compareTwo, describeTwo } from "../../fakes/compare_two.ts";

Deno.test("a comment says whether the run passed, its averages, and where to look first", async () => {
  const source = storedRun([
    ["good", [[{ scores: { token_f1: 1, overall: 1 } }]]],
    ["bad", [[{ scores: { token_f1: 0.1, overall: 0.2 } }]]],
    ["dead", [[failedTurn]]],
  ]);
  assertEquals(
    await textOf(markdown.write(source)),
    `## Evaluation \`a test\`: 1 of 3 scenarios passes

- Model \`acme/model\` at \`http://model.example/v1\`
- Run \`run-1\`, completed
- Turns 3 of 3: 1 passes, 1 does not, 1 failed call
- Failed 1 × \`provider_timeout\`: \`no answer within 120 s\`
- Tokens 6 input, 10 output

### Scores

| score | mean | turns | failed calls |
| --- | ---: | ---: | ---: |
| \`overall\` | 0.400 | 3 | 1 |
| \`token_f1\` | 0.550 | 2 | 0 |

- No interval of overall: 3 scenarios: an interval needs 5

### Lowest scenarios

| scenario | overall | turns that do not pass | failed calls |
| --- | ---: | ---: | ---: |
| \`dead\` | 0.000 | 0 of 1 | 1 |
| \`bad\` | 0.200 | 1 of 1 | 0 |

### Lowest replies

- \`bad\`: overall 0.200
  - asked: \`message t1\`
  - expected: \`expected\`
  - answered: \`answered\`
  - why: \`overall 0.20, needed 0.70\`
`,
  );
});

Deno.test("turns that lack a part of their score are counted apart, with reasons", async () => {
  const source = storedRun([
    ["whole", [[{ scores: { token_f1: 1, judge: 1, overall: 1 } }]]],
    ["half", [[incompleteTurn]]],
  ]);
  const text = await textOf(markdown.write(source));
  assertStringIncludes(text, "`a test`: 1 of 2 scenarios passes\n");
  assertStringIncludes(text, "Turns 2 of 2: 1 passes, 0 do not, 1 with a missing score\n");
  assertStringIncludes(text, "- Missing 1 × `judge`: `judge_unavailable`\n");
  assertStringIncludes(text, "| score | mean | turns | missing |\n");
  assertStringIncludes(text, "| `overall` | 0.500 | 1 | 1 |\n");
  assertStringIncludes(text, "| `token_f1` | 0.750 | 2 | 0 |\n");
});

Deno.test("a scenario that lacks scores is listed, and why it is", async () => {
  const source = storedRun([["half", [[incompleteTurn]]], ["low", [[{
    scores: { overall: 0.2 },
  }]]]]);
  const text = await textOf(markdown.write(source));
  assertStringIncludes(text, "| turns that do not pass | failed calls | missing scores |\n");
  assertStringIncludes(
    text,
    "| `half` | 0.000 | 0 of 1 | 0 | 1 |\n| `low` | 0.200 | 1 of 1 | 0 | 0 |\n",
  );
});

Deno.test("the reason of a missing score is read to its end", async () => {
  const reason = `no sentence vectors: ${"cannot get a reply ".repeat(8)}(403): quota used up`;
  const turn = { ...incompleteTurn, missing_scores: { overall: reason, judge: reason } };
  const text = await textOf(markdown.write(storedRun([["s", [[turn]]]])));
  assertStringIncludes(text, "(403): quota used up");
});

Deno.test("a scenario without a score is among the lowest: it counts 0", async () => {
  const source = storedRun([
    ["open", [[incompleteTurn]]],
    ["worse", [[{ scores: { overall: 0.2 } }]]],
    ["better", [[{ scores: { overall: 0.5 } }]]],
  ]);
  const [, lowest] = (await textOf(markdown.write(source))).split("### Lowest ");
  assertEquals(lowest!.match(/worse|open|better/g), ["open", "worse", "better"]);
});

Deno.test("a comment says of one check and of several that they were met", async () => {
  const met = { type: "contains", value: 1, weight: 1, required: false } as const;
  const says = (...names: string[]) => {
    const check_results = names.map((name) => ({ ...met, name }));
    return textOf(markdown.write(storedRun([["a", [[{ check_results }]]]])));
  };
  assertStringIncludes(await says("one"), "- The check was met\n");
  assertStringIncludes(await says("one", "two"), "- All 2 checks were met\n");
});

Deno.test("a check that was not decided everywhere is not said to be met", async () => {
  const check = { name: "kind", type: "judge", weight: 1, required: false } as const;
  const turns = ([1, null] as const).map((value) => ({ check_results: [{ ...check, value }] }));
  const text = await textOf(markdown.write(storedRun([["a", [turns]]])));
  assertStringIncludes(text, "| `kind` | no | 0 | 1 | 1 |\n");
});

Deno.test("a comment counts in what replies differ, and says if a mean mixes methods", async () => {
  const by = (method: string) => ({ score_methods: { semantic_similarity: method } });
  const text = await textOf(markdown.write(storedRun([
    ["a", [[{ ...by("one"), differs_in: ["number"] }, { ...by("one"), differs_in: ["negation"] }]]],
    ["b", [[{ ...by("two"), differs_in: ["negation"] }]]],
  ])));
  assertStringIncludes(text, "Turns that differ from their reference in negation 2, number 1\n");
  assertStringIncludes(
    text,
    "- `semantic_similarity` was computed by `one` (2 turns) and `two` (1 turn)\n",
  );
});

Deno.test("a comment counts the replies by what they say of their references", async () => {
  const labelled = (label: AgreementLabel) => ({
    agreement: { entails: 0.5, contradicts: 0.1, covers: 0.5, label },
  });
  const turns = [labelled("same"), labelled("same"), labelled("adds"), { wrong_values: ["2"] }];
  const text = await textOf(markdown.write(storedRun([["a", [turns]]])));
  assertStringIncludes(text, "- Agreement with the references: same 2, adds 1, contradicts 1\n");
});

Deno.test("a comment has the tokens that the run itself was answered with", async () => {
  const usage = { input_tokens: 10, output_tokens: 3, total_tokens: 13 };
  const text = await textOf(markdown.write(storedRun([
    ["s", [[{ usage }, { usage: null }, { usage }, { usage, copied_from_run: "before" }]]],
  ])));
  assertStringIncludes(text, "- Tokens 20 input, 6 output\n");
});

Deno.test("a run that passes shows no list of scenarios to look at", async () => {
  const text = await textOf(markdown.write(storedRun([["good", [[{}]]]])));
  assertStringIncludes(text, "`a test`: 1 of 1 scenario passes");
  assert(!text.includes("Lowest"));
});

Deno.test("three turns of 0.7 pass a threshold of 0.7", async () => {
  const turn = { scores: { overall: 0.7 } };
  const text = await textOf(markdown.write(storedRun([["s", [[turn, turn, turn]]]])));
  assertStringIncludes(text, "`a test`: 1 of 1 scenario passes\n");
});

Deno.test("a comment shows the endpoint without its query and its password", async () => {
  const endpoint = "https://user:hidden@model.example/v1?key=hidden";
  const text = await textOf(markdown.write(storedRun([["s", [[{}]]]], { endpoint })));
  assertStringIncludes(text, "at `https://model.example/v1`\n");
  assert(!text.includes("hidden"), text);
});

Deno.test("a run that was stopped says how far it came", async () => {
  const source = storedRun([["s", [[{}]]]], { status: "cancelled", totalTurns: 10 });
  const text = await textOf(markdown.write(source));
  assertStringIncludes(text, "`a test`: cancelled\n");
  assertStringIncludes(text, "- Turns 1 of 10: 1 passes");
});

Deno.test("a comparison comes below the run, with the verdict and what has no counterpart", async () => {
  const values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
  const run = (shift: number, extra: string) =>
    recordedRun([
      ...values.map((value, index) =>
        [`s${index}`, [["t", value + shift]]] as [string, [[string, number]]]
      ),
      [extra, [["t", 1]]],
    ]);
  const result = await compareTwo({ baseline: run(0.1, "old"), candidate: run(0, "new") });
  const text = await textOf(
    markdown.write({
      ...storedRun([["s", [[{}]]]]),
      comparison: { result: asComparison(result, [{ run_id: "run-0" }, {}]) },
    }),
  );
  assertStringIncludes(text, "## Evaluation `a test`: 1 of 1 scenario passes\n");
  assertStringIncludes(text, "### Compared with `run-0`: overall regressed");
  assertStringIncludes(text, "| score | before | now | difference | 95% interval | p |");
  assertMatch(text, /\| `overall` \| 0.500 \| 0.400 \| -0.100 \| -0.\d+ … -0.\d+ \| 0.016 \|/);
  assertStringIncludes(text, "| `s0` | 0.200 | 0.100 | -0.100 |");
  assertStringIncludes(text, "Only in the baseline: scenarios `old`");
  assertStringIncludes(text, "Only in the candidate: scenarios `new`");
});

Deno.test("a comparison names the deciding score first, and its reason", async () => {
  const run = (shift: number) =>
    recordedRun([0.1, 0.2, 0.3].map((value, index) => [`s${index}`, [["t", {
      token_f1: value + shift,
      chrf: value + shift,
      overall: value + shift,
      rouge_l: value,
    }]]]));
  const result = await compareTwo({ baseline: run(0), candidate: run(0.1) });
  const source = {
    ...storedRun([["s", [[{}]]]]),
    comparison: { result: asComparison(result, [{ run_id: "run-0" }, {}]) },
  };
  const text = await textOf(markdown.write(source));
  const named = [...text.slice(text.indexOf("Compared with")).matchAll(/^\| `(\w+)`/gm)];
  assertEquals(named.slice(0, 3).map(([, name]) => name), ["overall", "token_f1", "chrf"]);
  assertStringIncludes(text, "- `overall`: too few scenarios: 3 of 3 differ, and the test ");
});

Deno.test("a thousand failing scenarios still fit into one comment", async () => {
  const source = storedRun(
    Array.from({ length: 1000 }, (_, index) => [`${index}-${"x".repeat(500)}`, [[failedTurn]]]),
  );
  const text = await textOf(markdown.write(source));
  assert(text.length < 10_000, `${text.length} characters`);
  assertStringIncludes(text, "and 990 more");
});

const hostile: [text: string, written: string][] = [
  ["a|b", "`a|b`"],
  ["<img src=x>", "`<img src=x>`"],
  ["@everyone", "`@everyone`"],
  ["`code`", "`` `code` ``"],
  ["a``b", "```a``b```"],
  ["two\nlines\r\n# title", "`two lines # title`"],
  ["\u202egnp.exe", "`gnp.exe`"],
  ["", "(empty)"],
  ["\ud800", "`\ufffd`"],
];
for (const [text, written] of hostile) {
  Deno.test(`in Markdown ${JSON.stringify(text)} is only text`, () => {
    assertEquals(markdownForm.name(text), written);
  });
}

Deno.test("a name with a bar does not cut the row of a table", () => {
  assertEquals(
    markdownForm.table(["scenario"], [[markdownForm.name("a|b")]]),
    "| scenario |\n| --- |\n| `a\\|b` |\n",
  );
});

Deno.test("a long error keeps its end, where the reason is", async () => {
  const detail = `cannot call the endpoint: ${"x".repeat(400)}: the model is not loaded`;
  const error = { code: "provider_error", status: 500, detail };
  const text = await textOf(markdown.write(storedRun([["s", [[{ ...failedTurn, error }]]]])));
  const [, shown = ""] = /Failed 1 × `provider_error`: `(.*)`/.exec(text) ?? [];
  assert(shown.startsWith("cannot call the endpoint: xxx"), shown);
  assert(shown.endsWith("xxx: the model is not loaded"), shown);
  assert(shown.length <= 300, `${shown.length}`);
});

function agreementOf(pairs: [score: number, grade: number][]): string {
  const turns = pairs.map(([score, value], scenario): GradedTurn => ({
    scenario,
    score,
    grades: [{ author: "ann", value }],
  }));
  const found = describeAgreement(turns, { score: "judge", passThreshold: 0.7 });
  return renderText([agreementSection({ run_id: "run", ...found })], terminalForm);
}

Deno.test("the agreement names the threshold of the run, and a better one if there is one", () => {
  assertStringIncludes(
    agreementOf([[0.9, 0.9], [0.2, 0.1]]),
    "judge passes and fails as people do in 100 % of turns at 0.7, and no threshold does better\n",
  );
  assertStringIncludes(
    agreementOf([[0.9, 0.9], [0.8, 0.2], [0.1, 0.1], [0.1, 0.1]]),
    "judge passes and fails as people do in 75 % of turns at 0.7, and in 100 % at 0.9\n",
  );
});

const show = (amount: number) => showCost({ amount, currency: "USD", turns: 1, unknown: 0 });

Deno.test("a small cost has four digits that say something, a large one its hundredths", () => {
  assertEquals([0.000279, 0.0104974, 1.23456, 99.994].map(show), [
    "0.000279 USD",
    "0.0105 USD",
    "1.235 USD",
    "99.99 USD",
  ]);
  assertEquals([123.456, 1234.5, 12_345.67].map(show), [
    "123.46 USD",
    "1234.5 USD",
    "12345.67 USD",
  ]);
});

const PLACES = [...Array(20).keys()];

/** The report of twenty scenarios with one turn each. */
async function report(
  before: (index: number) => RecordedScore,
  now: (index: number) => RecordedScore,
): Promise<string> {
  const run = (score: typeof before) =>
    recordedRun(PLACES.map((index) => [`s${index}`, [["t", score(index)]]]));
  const result = await compareTwo({ baseline: run(before), candidate: run(now) });
  return describeTwo(result, terminalForm);
}

Deno.test("a run that is better in other scores only is not called better", async () => {
  const text = await report(
    (index) => ({ overall: 0.8, bleu: 0.4, chrf: 0.4, rouge_1: 0.4 + index / 100 }),
    (index) => ({ overall: index % 2 ? 0.9 : 0.7, bleu: 0.6, chrf: 0.6, rouge_1: 0.7 }),
  );
  assertStringIncludes(
    text,
    "Compared with b: overall inconclusive (0.000, 95 % -0.174 … +0.174)\n",
  );
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
  const lines = text.split("\n").filter((line) => line.includes("No answer"));
  assert(lines.length === 1, text);
  assertMatch(
    lines[0]!,
    /No answer in 0 turns of the baseline and 1 of the candidate: they count 0/,
  );
});

Deno.test("a report says that overall was computed again if a part of it is not compared", async () => {
  const scored = (judge: string | null): RecordedScore => ({
    scores: { overall: 0.7, semantic_similarity: 0.6, judge: judge === null ? null : 0.8 },
  });
  const note = "overall is computed without judge where that cannot be compared";
  assertStringIncludes(await report(() => scored("yes"), () => scored(null)), note);
  assert(!(await report(() => scored("yes"), () => scored("yes"))).includes(note));
});

function model(name: string, overall: Record<string, unknown>): ComparedRun {
  const counts = { progress: { done: 9, total: 9, failed: 0 }, errors: [], missing_scores: [] };
  return { name, status: "completed", scores: { overall }, ...counts } as unknown as ComparedRun;
}

/** The first model is better than each other one; the others do not differ significantly. */
function groupReport(models: ComparedRun[]): Comparison {
  const names = models.map(({ name }) => name);
  const pairs = names.flatMap((baseline, index) =>
    names.slice(index + 1).map((candidate): ComparedPair => {
      const verdict = index === 0 ? "regressed" : "inconclusive";
      const reason = index === 0 ? null : "a difference of this size is too likely by chance";
      const scores = {
        overall: { difference: -0.1, ci95: null, p: 0.5, scenarios: 9, turns_without_pair: 0 },
      };
      const better = index === 0 ? baseline : null;
      return {
        baseline,
        candidate,
        better,
        verdict,
        reason,
        scores,
        notes: [],
      } as unknown as ComparedPair;
    })
  );
  return {
    group_id: "g",
    status: "completed",
    progress: { done: 9, total: 9, failed: 0 },
    runs: models.map((model) => ({ ...model, test_name: "t" })),
    pairs,
    best: names.slice(0, 1),
    decided_by: "overall",
    tests: pairs.length,
  } as unknown as Comparison;
}

Deno.test("a group of many models lists the verdicts first, and not every pair three times", () => {
  const models = [..."abcdefghij"].map((name) => model(name, { mean: 0.5, ci95: null }));
  const text = renderText(compareReport(groupReport(models)), terminalForm);
  const rows = text.match(/^. − .+$/gm)!;
  assertEquals(rows.length, 20);
  assert(rows.slice(0, 9).every((row) => /^. − a .* a$/.test(row)), rows.join("\n"));
  assertStringIncludes(text, "and 25 more pairs\n");
  assertEquals(text.match(/too likely by chance/g)!.length, 1);
  assertMatch(text, /c − b, d − b, e − b, f − b, g − b and 31 more: a difference of this size/);
});

Deno.test("the lowest replies say of what their score is made, and what was wrong with them", async () => {
  const low = {
    scores: { semantic_similarity: 0.4, metadata_match: 0, checks: 0, overall: 0.133 },
    user_message: "May I return it?",
    reference_reply: "Within 30 days.",
    agent_reply: "Ask <b>@support</b> | `now`",
    reference_metadata: { intent: "refund" },
    generated_metadata: { intent: "greeting" },
    agreement: { entails: 0.01, contradicts: 0.97, covers: 0, label: "contradicts" },
    judge: { model: "j", grade: 1, reason: "No answer.", votes: [], spread: null },
    check_results: [
      { name: "period", type: "contains", value: 0, weight: 1, required: true, reason: "no 30" },
    ],
  } as const;
  const text = await textOf(markdown.write(storedRun([["returns", [[{}, {}], [{}, {
    ...low,
    judge: { ...low.judge, votes: [] },
    check_results: [...low.check_results],
  }]]]])));
  assertStringIncludes(
    text,
    `### Lowest replies

- \`returns\`, turn 2, attempt 2: overall 0.133 (semantic_similarity 0.400, metadata_match 0.000, checks 0.000)
  - asked: \`May I return it?\`
  - expected: \`Within 30 days.\`
  - answered: \`\` Ask <b>@support</b> | \`now\` \`\`
  - why: \`check not met: period (no 30)\`
  - why: \`contradicts the reference (0.97)\`
  - why: \`label: intent is "greeting", expected "refund"\`
`,
  );
});

Deno.test("a turn is among the lowest replies once, and five of them are shown", async () => {
  const at = (overall: number) => ({ scores: { overall } });
  const text = await textOf(markdown.write(storedRun([
    ["a", [[at(0.5)], [at(0.1)], [at(0.3)]]],
    ...[0.6, 0.2, 0.4, 0.3, 0.65].map((
      overall,
    ): StoredScenario => [`s-${overall}`, [[at(overall)]]]),
  ])));
  const [, replies] = text.split("### Lowest replies");
  assertEquals(replies!.match(/- `.*/g), [
    "- `a`, attempt 2: overall 0.100",
    "- `s-0.2`: overall 0.200",
    "- `s-0.3`: overall 0.300",
    "- `s-0.4`: overall 0.400",
    "- `s-0.6`: overall 0.600",
  ]);
});

Deno.test("of many failed checks five are shown, required ones first", async () => {
  const check_results = Array.from({ length: 6 }, (_, index) => ({
    name: `c${index + 1}`,
    type: "contains" as const,
    value: 0 as const,
    weight: 1,
    required: index === 5,
    reason: "no",
  }));
  const turn = { scores: { checks: 0, overall: 0 }, check_results };
  const text = await textOf(markdown.write(storedRun([["s", [[turn]]]])));
  const shown = [...text.matchAll(/check not met: (c\d)/g)].map(([, name]) => name);
  assertEquals(shown, ["c6", "c1", "c2", "c3", "c4"]);
  assertStringIncludes(text, "- and 1 more cause\n");
});
