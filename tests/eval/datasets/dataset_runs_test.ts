import { assertEquals, assertStringIncludes } from "@std/assert";
import { evaluateBody, evaluateRequestOf, evaluateWith } from "../../fakes/eval_service.ts";
import { datasetService, jsonl, scenario } from "../../fakes/dataset_service.ts";

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
  const { json } = await call(`/runs/compare?baseline=${runs[0]}&candidate=${runs[1]}`);
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
