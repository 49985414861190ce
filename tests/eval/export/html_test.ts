import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { html } from "../../../eval/export/formats/html.ts";
import type { GroupReport } from "../../../eval/groups/group_report.ts";
import { storedRun } from "../../fakes/stored_run.ts";
import { PAYLOADS } from "../../pages/payloads.ts";

async function write(...parameters: Parameters<typeof storedRun>): Promise<string> {
  return (await Array.fromAsync(html.write(storedRun(...parameters)))).join("");
}

function dataOf(file: string) {
  const [, text] = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(file)!;
  return JSON.parse(text!);
}

Deno.test("a report holds the run, its summary and every turn whole", async () => {
  const file = await write([["a", [[{ agent_reply: "one" }, {}], [{}, {}]]], ["b", [[{}]]]]);
  const { run, summary, turns, scenarios } = dataOf(file);
  assertEquals([run.run_id, turns.length], ["run-1", 5]);
  assertEquals(scenarios.map(({ id }: { id: string }) => id), ["a", "b"]);
  assertEquals(turns[0].interaction.agent_reply, "one");
  assert(summary.statistics.overall);
});

Deno.test("a report holds the noise, and the agreement of those who graded", async () => {
  const grade = { label: null, comment: null, version: 1, created_at: "2026-01-01T00:00:00Z" };
  const grades = [
    { ...grade, author: "ann", value: 0.5 },
    { ...grade, author: null, value: 1 },
  ];
  const scores = { overall: 0.8 };
  const { noise, agreement } = dataOf(
    await write([["a", [[{ scores, grades }], [{ scores }]]], ["b", [[{ scores }], [{ scores }]]]]),
  );
  assertEquals(noise.scores.overall.scenarios, 2);
  assertEquals([agreement.grades, agreement.graded_turns, agreement.judge.score], [
    2,
    1,
    "overall",
  ]);
  assertEquals(agreement.authors.map(({ author }: { author: string }) => author), [null, "ann"]);
});

Deno.test("a report counts by the threshold that it is written with", async () => {
  const scores = { overall: 0.8 };
  const source = { ...storedRun([["a", [[{ scores }]]]]), threshold: 0.9 };
  const { summary, turns } = dataOf((await Array.fromAsync(html.write(source))).join(""));
  assertEquals(turns[0].outcome, "below");
  assertEquals([summary.pass_threshold, summary.outcomes.below, summary.scenarios.below], [
    0.9,
    1,
    1,
  ]);
});

Deno.test("no text of a caller or a model ends the report's data or adds a tag", async () => {
  const turns = PAYLOADS.map((text) => ({ user_message: text, agent_reply: text, id: text }));
  const file = await write([[PAYLOADS[2]!, [turns]]], {
    testName: PAYLOADS[0]!,
    modelId: PAYLOADS[1]!,
  });
  const page = file.replace(/(?<=<script type="module">)[^]*?(?=<\/script>)/, ""); // the program
  const count = (pattern: RegExp) => page.match(pattern)?.length;
  assertEquals([count(/<script/g), count(/<\/script>/g), count(/<img/gi)], [2, 2, undefined]);
  const data = dataOf(file);
  assertEquals(data.turns[5].interaction.agent_reply, PAYLOADS[5]);
  assertEquals(data.run.test_name, PAYLOADS[0]);
});

Deno.test("a report of a group holds its models and pairs, whatever their names are", async () => {
  const report = {
    group_id: "g",
    test_name: PAYLOADS[0]!,
    models: [{ name: PAYLOADS[2]!, run_id: "r" }],
    pairs: [],
  } as unknown as GroupReport;
  const pieces = html.writeGroup({ report, runs: () => Promise.resolve([]) });
  const file = (await Array.fromAsync(pieces)).join("");
  assertEquals(file.match(/<script/g)?.length, 2);
  assertEquals(dataOf(file), { group: report });
});

Deno.test("a report allows its own script and style by their hashes, and nothing else", async () => {
  const file = await write([["a", [[{}]]]]);
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(file)!;
  const hash = async (text: string) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return `'sha256-${new Uint8Array(digest).toBase64()}'`;
  };
  const [, script] = /<script type="module">([^]*?)<\/script>/.exec(file)!;
  const [, style] = /<style>([^]*?)<\/style>/.exec(file)!;
  assertStringIncludes(policy!, `script-src ${await hash(script!)};`);
  assertStringIncludes(policy!, `style-src ${await hash(style!)};`);
  assertStringIncludes(policy!, "default-src 'none'");
  assert(!/https?:\/\/(?!www\.w3\.org)/.test(style!), "the style loads something");
});
