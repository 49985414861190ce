import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { markdown } from "../../../eval/export/formats/markdown.ts";
import { markdownForm } from "../../../eval/export/formats/markdown.ts";
import type { AgreementLabel } from "../../../eval/schemas/interaction_result.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";
import { failedTurn, incompleteTurn, storedRun, textOf } from "../../fakes/stored_run.ts";

Deno.test("a comment says whether the run passed, its averages, and where to look first", async () => {
  const source = storedRun([
    ["good", [[{ scores: { token_f1: 1, overall: 1 } }]]],
    ["bad", [[{ scores: { token_f1: 0.1, overall: 0.2 } }]]],
    ["dead", [[failedTurn]]],
  ]);
  assertEquals(
    await textOf(markdown.write(source)),
    `## Evaluation \`a test\`: inconclusive

- Model \`acme/model\` at \`http://model.example/v1\`
- Run \`run-1\`, completed
- Turns 3 of 3: 1 passed, 1 below 0.7, 1 failed
- Failed 1 × \`provider_timeout\`: \`no answer within 120 s\`
- Tokens 6 input, 10 output

### Scores

| score | mean | turns | failed |
| --- | ---: | ---: | ---: |
| \`overall\` | 0.400 | 3 | 1 |
| \`token_f1\` | 0.550 | 2 | 0 |

- No interval of overall: 3 scenarios: an interval needs 5

### Lowest scenarios

| scenario | overall | turns below 0.7 | failed calls |
| --- | ---: | ---: | ---: |
| \`dead\` | 0.000 | 0 of 1 | 1 |
| \`bad\` | 0.200 | 1 of 1 | 0 |

### Lowest replies

- \`bad\`: overall 0.200
  - asked: \`message t1\`
  - expected: \`expected\`
  - answered: \`answered\`
`,
  );
});

Deno.test("turns that lack a part of their score are counted apart, with reasons and bounds", async () => {
  const source = storedRun([
    ["whole", [[{ scores: { token_f1: 1, judge: 1, overall: 1 } }]]],
    ["half", [[incompleteTurn]]],
  ]);
  const text = await textOf(markdown.write(source));
  // One scenario at 1, the other between 0.4 and 0.9: the mean lies between 0.7 and 0.95.
  assertStringIncludes(text, "`a test`: passed\n");
  assertStringIncludes(
    text,
    "Turns 2 of 2: 1 passed, 0 below 0.7, 0 failed, 1 with a missing score\n",
  );
  assertStringIncludes(text, "- Missing 1 × `judge`: `judge_unavailable`\n");
  assertStringIncludes(text, "| score | mean | turns | missing |\n");
  assertStringIncludes(text, "| `overall` | 0.700 to 0.950 | 1 | 1 |\n");
  assertStringIncludes(text, "| `token_f1` | 0.750 | 2 | 0 |\n");
  const strict = await textOf(markdown.write({ ...source, threshold: 0.8 }));
  assertStringIncludes(strict, "`a test`: inconclusive\n");
  const high = await textOf(markdown.write({ ...source, threshold: 0.96 }));
  assertStringIncludes(high, "`a test`: below 0.96\n");
});

Deno.test("the interval of a mean that is not known covers its bounds", async () => {
  const scored = (overall: number) => ({ scores: { overall } });
  const intervalOf = async (turn: Partial<typeof incompleteTurn>) => {
    const source = storedRun(
      [
        ...[0.9, 0.8, 0.7, 0.85].map((value, index) => [`${index}`, [[scored(value)]]] as const),
        ["last", [[turn]]],
      ].map(([id, attempts]) => [id, attempts]) as Parameters<typeof storedRun>[0],
    );
    const [, ...ends] = /95 % interval of overall: (\S+) … (\S+),/
      .exec(await textOf(markdown.write(source)))!;
    return ends.map(Number) as [number, number];
  };
  const [low, high] = await intervalOf(incompleteTurn); // between 0.4 and 0.9
  assertEquals([low, high], [
    (await intervalOf(scored(0.4)))[0],
    (await intervalOf(scored(0.9)))[1],
  ]);
});

Deno.test("a scenario that lacks scores is listed with what its score may be, and why it is listed", async () => {
  const source = storedRun([["half", [[incompleteTurn]]], ["low", [[{
    scores: { overall: 0.2 },
  }]]]]);
  const text = await textOf(markdown.write(source));
  assertStringIncludes(text, "| turns below 0.7 | failed calls | missing scores |\n");
  assertStringIncludes(
    text,
    "| `low` | 0.200 | 1 of 1 | 0 | 0 |\n| `half` | 0.400 to 0.900 | 0 of 1 | 0 | 1 |\n",
  );
});

Deno.test("the reason of a missing score is read to its end", async () => {
  const reason = `no sentence vectors: ${"cannot get a reply ".repeat(8)}(403): quota used up`;
  const turn = { ...incompleteTurn, missing_scores: { overall: reason, judge: reason } };
  const text = await textOf(markdown.write(storedRun([["s", [[turn]]]])));
  assertStringIncludes(text, "(403): quota used up");
});

Deno.test("a scenario without a score stands among the lowest by the least that it may have", async () => {
  const source = storedRun([
    ["open", [[incompleteTurn]]], // between 0.4 and 0.9
    ["worse", [[{ scores: { overall: 0.2 } }]]],
    ["better", [[{ scores: { overall: 0.5 } }]]],
  ]);
  const [, lowest] = (await textOf(markdown.write(source))).split("### Lowest ");
  assertEquals(lowest!.match(/worse|open|better/g), ["worse", "open", "better"]);
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
  assertStringIncludes(text, "`a test`: passed");
  assert(!text.includes("Lowest"));
});

Deno.test("three turns of 0.7 pass a threshold of 0.7", async () => {
  const turn = { scores: { overall: 0.7 } };
  const text = await textOf(markdown.write(storedRun([["s", [[turn, turn, turn]]]])));
  assertStringIncludes(text, "`a test`: passed\n");
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
  assertStringIncludes(text, "- Turns 1 of 10: 1 passed");
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
  const result = await compareRuns({ baseline: run(0.1, "old"), candidate: run(0, "new") });
  const text = await textOf(
    markdown.write({ ...storedRun([["s", [[{}]]]]), comparison: { baseline: "run-0", result } }),
  );
  assertStringIncludes(text, "## Evaluation `a test`: regressed\n");
  assertStringIncludes(text, "### Compared with `run-0`: overall regressed");
  assertStringIncludes(text, "| score | before | now | difference | 95 % | p |");
  assertMatch(text, /\| `overall` \| 0.500 \| 0.400 \| -0.100 \| -0.\d+ … -0.\d+ \| 0.0156 \|/);
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
  const result = await compareRuns({ baseline: run(0), candidate: run(0.1) });
  const source = { ...storedRun([["s", [[{}]]]]), comparison: { baseline: "run-0", result } };
  const text = await textOf(markdown.write(source));
  const named = [...text.slice(text.indexOf("Compared with")).matchAll(/^\| `(\w+)`/gm)];
  assertEquals(named.slice(0, 3).map(([, name]) => name), ["overall", "token_f1", "chrf"]);
  assertStringIncludes(text, "- `overall`: only 3 scenarios differ: the test needs at least 6\n");
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
