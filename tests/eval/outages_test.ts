import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import type { EvaluateResponse } from "../../eval/schemas/evaluate_response.ts";
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
  assertEquals([results.pass_rate!.mean, results.pass_rate!.bounds], [null, [0.5, 1]]);
  assertEquals(results.pass_rate_missing, 10);
  const { service } = evalService(undefined, { store });
  const { runs } = await (await service(get("/runs?sort=-overall"))).json();
  const listed = runs.find((run: { run_id: string }) => run.run_id === run_id);
  assertEquals(listed.headline.scores.overall.mean, null);
  const compared = await service(get(`/runs/compare?baseline=${good}&candidate=${run_id}`));
  assertEquals((await compared.json()).verdict, "inconclusive");
  for (const format of ["markdown", "csv&rows=scores"]) {
    const text = await (await service(get(`/runs/${run_id}/export?format=${format}`))).text();
    assert(text.includes("0.75") && !/overall\W+1\.000/.test(text), text.slice(0, 400));
  }
});

const INTENTS = {
  refund: ["Your money was sent back to your card.", "We refund the full price to your account."],
  delivery: ["Your parcel leaves the warehouse today.", "The courier brings the package tomorrow."],
};

/** Ten questions of each intent; the replies are their references in other words. */
const labelled = Object.entries(INTENTS).flatMap(([intent, texts], kind) =>
  Array.from({ length: 10 }, (_, index) =>
    scenario(`${intent} ${index}`, [
      interaction("t", {
        user_message: `question ${2 * index + kind} about a ${intent}`,
        reference_reply: `${texts[index % 2]} Case ${index}.`,
        reference_metadata: { intent },
      }),
    ]))
);

Deno.test("half of the replies become gibberish: the mean falls, and so do the labels", async () => {
  using embedder = createLocalEmbedder();
  const means = async (breaks: boolean) => {
    const { service } = evalService((conversation) => {
      const { content } = conversation.at(-1)!;
      const [, number, intent] = /(\d+) about a (\w+)/.exec(content)!;
      if (breaks && Number(number) % 4 < 2) return "xq zzk blorf wug 7#";
      return INTENTS[intent as keyof typeof INTENTS][Number(number) % 3 % 2]!;
    }, { scoring: scoringPorts({ embedder }) });
    const { results } = await evaluateWith(service, evaluateBody({ test_batch: labelled }));
    const { overall, intent_match } = results.statistics;
    assertEquals([overall!.missing, intent_match!.missing], [0, 0]);
    return { overall: overall!.mean!, intent: intent_match!.mean!, ci95: overall!.ci95! };
  };
  const [healthy, broken] = [await means(false), await means(true)];
  assert(broken.overall < healthy.overall - 0.3, `${healthy.overall} → ${broken.overall}`);
  assert(broken.intent <= 0.5 && healthy.intent > 0.9, `${healthy.intent} → ${broken.intent}`);
  assert(broken.ci95[0] <= broken.overall && broken.overall <= broken.ci95[1]);
});

Deno.test("replies whose language cannot be told do not raise the mean", async () => {
  const { service } = evalService((conversation) =>
    isBad(conversation.at(-1)!.content) ? "Ok" : "Das ist in Ordnung so, vielen Dank."
  );
  const checks = [{ type: "language" as const, value: "de" }];
  const body = evaluateBody({ test_batch: batch({ reference_reply: "", checks }) });
  const { results } = await evaluateWith(service, body);
  assertEquals(results.average_scores.overall, 0.5);
});

Deno.test("empty answers against a good baseline are a regression", async () => {
  const store = memoryStore();
  const ids: string[] = [];
  for (const content of ["fine", ""]) {
    const textless = { code: "empty_reply" as const, detail: "the reply has no text" };
    const { service } = evalService(undefined, {
      store,
      target: {
        ask: () => Promise.resolve({ content, usage: null, ...(content === "" && { textless }) }),
      },
    });
    ids.push((await evaluateWith(service, evaluateBody({ test_batch: batch() }))).run_id);
  }
  const { service } = evalService(undefined, { store });
  const compared = await service(get(`/runs/compare?baseline=${ids[0]}&candidate=${ids[1]}`));
  const { verdict, scores } = await compared.json();
  assertEquals([verdict, scores.overall.candidate], ["regressed", 0]);
});

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
