import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import { FACTS } from "../bench/trust/facts.ts";
import { interaction, providerError, scenario } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { memoryStore } from "../fakes/memory_store.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

/** Twenty questions with the same expectation. */
const batch = (fields: Parameters<typeof interaction>[1] = {}) =>
  Array.from({ length: 20 }, (_, index) =>
    scenario(`s${index}`, [
      interaction("t", { user_message: `question ${index}`, reference_reply: "fine", ...fields }),
    ]));

const isBad = (text: string) => Number(/question (\d+)/.exec(text)![1]) % 2 === 1;
const get = (path: string) => new Request(`http://127.0.0.1:8080${path}`);

/** The same replies with a judge that works, and with one that fails on the bad half. */
async function withJudge(fails: boolean, store = memoryStore()): Promise<EvaluateResponse> {
  const { judge } = fakeJudge(({ messages }) => {
    const bad = isBad(messages[1]!.content);
    if (fails && bad) throw providerError(500);
    return JSON.stringify({ reason: "r", grade: bad ? 0 : 10 });
  });
  const { service } = evalService(() => "fine", { store, scoring: scoringPorts({ judge }) });
  return await evaluateWith(service, evaluateBody({ test_batch: batch() }));
}

Deno.test("a judge that fails on the bad half raises no mean, no interval and no pass rate", async () => {
  const store = memoryStore();
  const { results: healthy, run_id: good } = await withJudge(false, store);
  const { results, run_id } = await withJudge(true, store);
  assertAlmostEquals(healthy.average_scores.overall!, 0.75, 1e-9);
  assertEquals(results.average_scores.overall, null);
  const { mean, bounds, ci95 } = results.statistics.overall!;
  assertEquals(mean, null);
  assertAlmostEquals(bounds![0], 0.75, 1e-9);
  assertAlmostEquals(bounds![1], 1, 1e-9);
  assert(ci95![0] <= bounds![0] && bounds![1] <= ci95![1], "no narrower interval beside it");
  assertEquals(healthy.pass_rate!.mean, 0.5);
  assertEquals(results.pass_rate!.mean, 0.5);
  const { service } = evalService(undefined, { store });
  const { runs } = await (await service(get("/runs?sort=-overall"))).json();
  const listed = runs.find((run: { run_id: string }) => run.run_id === run_id);
  assertEquals(listed.headline.scores.overall.mean, null);
  const compared = await service(get(`/compare?baseline=${good}&candidate=${run_id}`));
  assertEquals((await compared.json()).pairs[0].verdict, "inconclusive");
  for (const format of ["markdown", "csv&rows=scores"]) {
    const text = await (await service(get(`/runs/${run_id}/export?format=${format}`))).text();
    assert(text.includes("0.75") && !/overall\W+1\.000/.test(text), text.slice(0, 400));
  }
});

for (const { name, measure } of FACTS) {
  Deno.test(`no number rises, and no verdict improves, when something breaks: ${name}`, async () => {
    const { result, isKept } = await measure();
    assert(isKept, result);
  });
}

Deno.test("twelve copies of one question count as one, and the run says so", async () => {
  const { service } = evalService(() => "fine");
  const test_batch = Array.from(
    { length: 12 },
    (_, index) => scenario(`s${index}`, [interaction("t", { reference_reply: "fine" })]),
  );
  const { results, notes } = await evaluateWith(service, evaluateBody({ test_batch }));
  assertEquals([results.statistics.overall!.n, results.statistics.overall!.ci95], [1, null]);
  assert(notes.some(({ code }) => code === "identical_questions"));
});
