import { assertEquals, assertStringIncludes } from "@std/assert";
import { createContentChecks } from "../../../../eval/score/content_checks.ts";
import { digestBatch } from "../../../../eval/store/run_record.ts";
import { datasetService, jsonl, scenario } from "../../../fakes/dataset_service.ts";
import { evaluateBody, evaluateRequestOf, evaluateWith } from "../../../fakes/eval_service.ts";
import { scoringPorts } from "../../../fakes/scoring_ports.ts";
import { pairIn } from "../../../fakes/compare_two.ts";

Deno.test("a dataset is written, listed, read and deleted", async () => {
  const { call, put } = datasetService();
  const first = await put("/datasets/support", jsonl(scenario("a")));
  const version = digestBatch([scenario("a")]);
  assertEquals(first.status, 201);
  const { created_at, ...written } = first.json;
  assertEquals(written, {
    name: "support",
    version,
    scenarios: 1,
    turns: 1,
    bytes: jsonl(scenario("a")).length,
    created: true,
    left_out: [],
  });
  assertEquals(
    first.response.headers.get("location"),
    `/datasets/support?version=${version}`,
  );
  const again = await put("/datasets/support", JSON.stringify([scenario("a")]));
  assertEquals([again.status, again.json], [200, { ...first.json, created: false }]);

  await put("/datasets/support", jsonl(scenario("a"), scenario("b")));
  const { json: { datasets, next_cursor } } = await call("/datasets");
  assertEquals(next_cursor, null);
  assertEquals(datasets.length, 1);
  assertEquals([datasets[0].versions, datasets[0].scenarios], [2, 2]);
  const { json: { versions } } = await call("/datasets/support/versions");
  assertEquals(versions[1], {
    name: "support",
    version,
    scenarios: 1,
    turns: 1,
    bytes: written.bytes,
    created_at,
  });

  const old = await call(`/datasets/support?version=${version.slice(0, 6)}`);
  assertEquals(old.json, { name: "support", version, test_batch: [scenario("a")] });
  const latest = await call("/datasets/support");
  assertEquals(latest.json.test_batch, [scenario("a"), scenario("b")]);

  assertEquals(
    (await call(`/datasets/support?version=${version}`, { method: "DELETE" })).status,
    204,
  );
  assertEquals((await call(`/datasets/support?version=${version}`)).status, 404);
  assertEquals((await call("/datasets/support", { method: "DELETE" })).status, 204);
  assertEquals((await call("/datasets/support")).status, 404);
});

Deno.test("writing what was read as JSONL changes nothing", async () => {
  const { call, put } = datasetService();
  const sent = jsonl(scenario("a", 'Grüße,\n"ja" \u0000 👋'), scenario("b"));
  const { json: { version } } = await put("/datasets/support", sent);
  const read = await call("/datasets/support?format=jsonl");
  assertEquals(read.response.headers.get("content-type"), "application/jsonl");
  assertEquals(read.text, sent);
  const again = await put("/datasets/copy", read.text);
  assertEquals(again.json.version, version);
});

Deno.test("a table is written with a mapping of its columns, and what is left out is reported", async () => {
  const { call, put } = datasetService();
  const mapping = "column.user_message=question&column.reference_reply=answer" +
    "&column.metadata.intent=label";
  const table = 'question,answer,label,colour\nHi?,Hello,greet,red\nBye?,"See, you",part,blue\n';
  const { status, json } = await put(`/datasets/table?format=csv&${mapping}`, table);
  assertEquals([status, json.scenarios], [201, 2]);
  assertEquals(json.left_out, [{ what: "the column colour", count: 1, line: 1 }]);
  const { json: { test_batch: [, second] } } = await call("/datasets/table");
  assertEquals(second.interactions[0].reference_reply, "See, you");
  assertEquals(second.interactions[0].reference_metadata, { intent: "part" });
});

Deno.test("what a file would become is shown, and nothing is written", async () => {
  const { call } = datasetService();
  const preview = (content: string, query = "") =>
    call(`/datasets${query}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: content,
    });
  const rows = Array.from({ length: 30 }, (_, row) => `Hi ${row},Hello,greeting,red`).join("\n");
  const { status, json } = await preview(`user_message,reference_reply,intent,colour\n${rows}\n`);
  assertEquals([status, json.format, json.scenarios, json.turns], [200, "csv", 30, 30]);
  assertEquals(json.left_out, [{ what: "the column colour", count: 1, line: 1 }]);
  assertEquals(json.test_batch.length, 20);
  const [{ interactions: [turn] }] = json.test_batch;
  assertEquals(turn.reference_metadata, { intent: "greeting" });
  const asked = (await preview("a,b\n1,2\n", "?column.user_message=b")).json;
  assertEquals(asked.test_batch[0].interactions[0].user_message, "2");
  assertEquals((await preview("a,b\n1,2\n")).status, 400);
  assertEquals((await call("/datasets")).json.datasets, []);
});

Deno.test("scenarios are written as YAML, too", async () => {
  const { call, put } = datasetService();
  const scenario = "id: a\n  interactions:\n    - { id: '1', user_message: 'Hi: you' }\n";
  for (
    const text of [`- ${scenario}`, `test_batch:\n- ${scenario}`, scenario.replaceAll("\n  ", "\n")]
  ) {
    assertEquals((await put("/datasets/yaml", text)).json.scenarios, 1, text);
    const { json: { test_batch: [read] } } = await call("/datasets/yaml");
    assertEquals(read.interactions[0].user_message, "Hi: you");
  }
  const wrong = await put("/datasets/yaml", "- id: a\n  interactions: [\n");
  assertEquals(wrong.status, 400);
  assertEquals(wrong.json.errors[0].path, "line 3");
});

/** Files as the other tools write them. */
const FOREIGN: Record<string, { type: string; file: string; turns: string[][] }> = {
  promptfoo: {
    type: "application/yaml",
    file: `# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: Translation
prompts:
  - 'Convert this English to {{language}}: {{input}}'
providers: [openai:gpt-4.1-mini]
tests:
  - vars: { language: French, input: Hello world }
    assert:
      - { type: contains, value: Bonjour le monde }
      - { type: javascript, value: output.length < 100 }
  - vars: { language: Spanish, input: Where is the library? }
    assert: [{ type: icontains, value: Dónde está la biblioteca }]
`,
    turns: [
      ["Convert this English to French: Hello world"],
      ["Convert this English to Spanish: Where is the library?"],
    ],
  },
  "openai-evals": {
    type: "application/jsonl",
    file: `{"input": [{"role": "system", "content": "Answer the question."}, ` +
      `{"role": "user", "content": "What is 2+2?"}], "ideal": "4"}\n` +
      `{"input": "Capital of France?", "ideal": ["Paris", "paris"]}\n`,
    turns: [["What is 2+2?"], ["Capital of France?"]],
  },
  langsmith: {
    type: "text/csv",
    file: `id,created_at,inputs,outputs\n` +
      `6bd5,2026-01-01T00:00:00Z,"{""question"": ""What is LangChain?""}",` +
      `"{""answer"": ""A framework.""}"\n` +
      `7ce6,2026-01-01T00:00:00Z,"{""messages"": [{""role"": ""user"", ""content"": ""Hi""}, ` +
      `{""role"": ""assistant"", ""content"": ""Hello""}, {""role"": ""user"", ""content"": ` +
      `""Bye""}]}","{""output"": ""See you, ""}"\n`,
    turns: [["What is LangChain?"], ["Bye"]],
  },
};

for (const [format, { type, file, turns }] of Object.entries(FOREIGN)) {
  Deno.test(`a file of ${format} is written as it is, and what was read is the same dataset`, async () => {
    const { call, put } = datasetService();
    for (const path of ["/datasets/x", `/datasets/named?format=${format}`]) {
      const { status, text } = await put(path, file, { "content-type": type });
      assertEquals(status, 201, text);
    }
    const { json: { version, test_batch } } = await call("/datasets/x");
    const asked = (test_batch as ReturnType<typeof scenario>[]).map(({ interactions }) =>
      interactions.map(({ user_message }) => user_message)
    );
    assertEquals(asked, turns);
    assertEquals((await call("/datasets/named")).json.version, version);
    const { text } = await call("/datasets/x?format=jsonl");
    assertEquals((await put("/datasets/copy", text)).json.version, version);
    const whole = (await call("/datasets/x")).text;
    assertEquals((await put("/datasets/again?format=json", whole)).json.version, version);
  });
}

const REFUSED: Record<string, { path?: string; body: string; status?: number; says: string }> = {
  "a line that is not JSON": {
    body: `${jsonl(scenario("a"))}{"id": \n`,
    says: "cannot use the file (read as jsonl): line 2: it is not JSON",
  },
  "a scenario without turns": {
    body: jsonl(scenario("a"), { id: "b", interactions: [] }),
    says: "line 2: interactions",
  },
  "a table without the mapped column": {
    path: "/datasets/x?column.user_message=frage",
    body: "question,answer\nHi?,Hello\n",
    says: "frage",
  },
  "a field that no column can hold": {
    path: "/datasets/x?column.colour=red",
    body: "question\nHi?\n",
    says: "column.colour: must be column. and user_message",
  },
  "an unknown format": {
    path: "/datasets/x?format=xml",
    body: "<a/>",
    says:
      "format: must be one of jsonl, json, csv, promptfoo, openai-evals, langsmith, openai-graders",
  },
  "an empty file": { path: "/datasets/x?format=jsonl", body: "\n", says: "it has no scenario" },
  "a name with a space": { path: "/datasets/a%20b", body: jsonl(scenario("a")), says: "name:" },
  "JSON that is nested too deeply": {
    body: `{"id":"a","interactions":${"[".repeat(50_000)}`,
    says: "nested more than 200 levels deep",
  },
  "a whole file over MAX_BODY_BYTES": {
    path: "/datasets/x?format=json",
    body: " ".repeat(8_388_609),
    status: 413,
    says: "the format json is read as a whole",
  },
};

const BAD_CHECKS: Record<string, { fields: Record<string, unknown>; says: string }> = {
  "an invalid pattern": {
    fields: { checks: [{ type: "regex", value: "(" }] },
    says: "interactions.0.checks.0.value is not a usable pattern",
  },
  "an invalid schema": {
    fields: { checks: [{ type: "json", value: { type: "strin" } }] },
    says: "interactions.0.checks.0.value is not a usable JSON Schema",
  },
  "an unknown check": {
    fields: { checks: [{ type: "matches" }] },
    says: "interactions.0.checks.0.type: ",
  },
  "a negative weight": {
    fields: { checks: [{ type: "contains", value: "x", weight: -1 }] },
    says: "interactions.0.checks.0.weight: must be greater than 0",
  },
  "an invalid pattern for a tool call": {
    fields: { reference_tools: [{ name: "search", args: { q: { $regex: "(" } } }] },
    says: "interactions.0.reference_tools.0.args.q.$regex is not a usable pattern",
  },
};

Deno.test("a bad check in a dataset is refused when it is written, with its line and path", async (t) => {
  using checks = createContentChecks();
  const { call, put } = datasetService({ scoring: scoringPorts({ checks }) });
  for (const [what, { fields, says }] of Object.entries(BAD_CHECKS)) {
    await t.step(what, async () => {
      const bad = scenario("b");
      Object.assign(bad.interactions[0]!, fields);
      const { status, json } = await put("/datasets/x", jsonl(scenario("a"), bad));
      assertEquals(status, 400);
      assertEquals(json.errors[0].path, "line 2");
      assertStringIncludes(json.errors[0].message, says);
    });
  }
  await t.step("a criterion for a judge is stored, also if there is none now", async () => {
    const judged = { ...scenario("a"), checks: [{ type: "judge", value: "polite" }] };
    assertEquals((await put("/datasets/judged", jsonl(judged))).status, 201);
  });
  const { datasets } = (await call("/datasets")).json;
  assertEquals(datasets.map(({ name }: { name: string }) => name), ["judged"]);
});

for (const [what, { path = "/datasets/x", body, status = 400, says }] of Object.entries(REFUSED)) {
  Deno.test(`${what} is refused, and nothing is stored`, async () => {
    const { call, put } = datasetService();
    const answer = await put(path, body);
    assertEquals(answer.status, status, answer.text);
    assertStringIncludes(JSON.parse(answer.text).detail, says);
    assertEquals((await call("/datasets")).json.datasets, []);
  });
}

Deno.test("a client that leaves while it sends a table ends the upload, and nothing is stored", async () => {
  const { call, put } = datasetService();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const text = "user_message\n" + "Hi?\n".repeat(10_000);
      controller.enqueue(new TextEncoder().encode(text));
    },
    pull: (controller) => controller.error(new Error("connection reset")),
  });
  const { status } = await put("/datasets/x?format=csv", body);
  assertEquals(status, 499);
  assertEquals((await call("/datasets")).json.datasets, []);
});

Deno.test("a run names a dataset, and records its version", async () => {
  const { put, service, asked, store } = datasetService();
  const { json: { version } } = await put("/datasets/support", jsonl(scenario("a")));
  await put("/datasets/support", jsonl(scenario("a"), scenario("b")));
  const { test_batch: _, ...rest } = evaluateBody();
  const latest = await evaluateWith(service, { ...rest, dataset: "support" });
  assertEquals(latest.results.scenarios.map(({ scenario_id }) => scenario_id), ["a", "b"]);
  assertEquals(latest.test_name, "support");
  const old = await evaluateWith(service, { ...rest, dataset: `support@${version.slice(0, 8)}` });
  assertEquals(old.results.scenarios.length, 1);
  const run = await store.getRun(old.run_id);
  assertEquals(run!.request.dataset, `support@${version}`);
  assertEquals(run!.batchDigest, version);
  assertEquals((old as unknown as { dataset: string }).dataset, `support@${version}`);
  assertEquals(asked.length, 3);
});

Deno.test("a run of a dataset that is not there, or beside a batch, is refused and costs no call", async () => {
  const { put, service, asked } = datasetService();
  await put("/datasets/support", jsonl(scenario("a")));
  const { test_batch, ...rest } = evaluateBody();
  const cases: [Record<string, unknown>, string, string][] = [
    [{ dataset: "other" }, "dataset", 'cannot find dataset "other"'],
    [{ dataset: "support@0000" }, "dataset", "cannot find version 0000"],
    [{ dataset: "support@" }, "dataset", "must be NAME or NAME@VERSION"],
    [{ dataset: "a b" }, "dataset", "must be NAME or NAME@VERSION; the name must have 1 to 100"],
    [{ dataset: "support", test_batch }, "test_batch", "must not be sent together with dataset"],
  ];
  for (const [fields, path, message] of cases) {
    const response = await service(evaluateRequestOf({ ...rest, ...fields }));
    const { errors } = await response.json();
    assertEquals([response.status, errors[0].path], [400, path]);
    assertStringIncludes(errors[0].message, message);
  }
  assertEquals(asked.length, 0);
});

Deno.test("the same key and dataset are the same run, also after a new version", async () => {
  const { put, service } = datasetService();
  await put("/datasets/support", jsonl(scenario("a")));
  const { test_batch: _, ...rest } = evaluateBody({ dataset: "support" });
  const send = async () =>
    (await service(evaluateRequestOf(rest, { "idempotency-key": "k" }))).json();
  const { run_id } = await send();
  await put("/datasets/support", jsonl(scenario("b")));
  assertEquals((await send()).run_id, run_id);
});

Deno.test("comparing runs of two versions says which, and which scenarios changed", async () => {
  const { call, put, service } = datasetService();
  const { test_batch: _, ...rest } = evaluateBody({ dataset: "support" });
  const runs = [];
  const versions = [];
  for (
    const file of [
      jsonl(scenario("a"), scenario("b"), scenario("c")),
      jsonl(scenario("a"), scenario("b", "else?"), scenario("d")),
    ]
  ) {
    versions.push((await put("/datasets/support", file)).json.version);
    runs.push((await evaluateWith(service, rest)).run_id);
  }
  const json = pairIn((await call(`/compare?runs=${runs}`)).json);
  assertEquals(json.baseline.dataset, `support@${versions[0]}`);
  assertEquals(json.candidate.dataset, `support@${versions[1]}`);
  assertEquals(json.changed, ["b"]);
  assertEquals(json.only_in_baseline.scenarios, ["c"]);
  assertEquals(json.only_in_candidate.scenarios, ["d"]);
  const { text } = await call(`/runs/${runs[1]}/export?format=markdown&baseline=${runs[0]}`);
  assertStringIncludes(
    text,
    `- The datasets differ: \`support@${versions[0]}\` before, \`support@${versions[1]}\` now`,
  );
  await evaluateWith(service, evaluateBody({ test_batch: [scenario("a")] }));
  const { json: { runs: listed } } = await call("/runs");
  assertEquals(listed.map(({ dataset }: { dataset?: string }) => dataset), [
    undefined,
    `support@${versions[1]}`,
    `support@${versions[0]}`,
  ]);
});
