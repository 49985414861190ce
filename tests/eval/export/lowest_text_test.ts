import { assertEquals, assertStringIncludes } from "@std/assert";
import { markdown } from "../../../eval/export/formats/markdown.ts";
import { storedRun, type StoredScenario, textOf } from "../../fakes/stored_run.ts";

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
  - judge: \`No answer.\`
  - expected labels: \`{"intent":"refund"}\`
  - found labels: \`{"intent":"greeting"}\`
  - \`contradicts the reference (0.97)\`
  - \`failed check: period (required): no 30\`
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
  const shown = [...text.matchAll(/failed check: (c\d)/g)].map(([, name]) => name);
  assertEquals(shown, ["c6", "c1", "c2", "c3", "c4"]);
  assertStringIncludes(text, "- and 1 more failed check\n");
});
