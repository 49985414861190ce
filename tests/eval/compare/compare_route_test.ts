import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { StoredComparison } from "../../../eval/compare/compare_stored.ts";
import type { LeftOut } from "../../../eval/compare/left_out.ts";
import type { ScoringPorts } from "../../../eval/assess/scoring_ports.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { fakeEmbedder, fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

const get = (query: string) => new Request(`http://127.0.0.1:8080/runs/compare?${query}`);

/** Ten scenarios, answered right by the model named "good" and wrong by any other. */
const body = (model_id: string, reply: string) =>
  evaluateBody({
    model_id,
    test_batch: Array.from({ length: 10 }, (_, index) => ({
      id: `s${index}`,
      interactions: [{ id: "t", user_message: `${reply} ${index}`, reference_reply: "right" }],
    })),
  });

const echo = () => evalService((conversation) => conversation.at(-1)!.content.split(" ")[0]!);

Deno.test("two stored runs are compared by their ids", async () => {
  const { service } = echo();
  const { run_id: baseline } = await evaluateWith(service, body("good", "right"));
  const { run_id: candidate } = await evaluateWith(service, body("bad", "wrong"));
  const response = await service(get(`baseline=${baseline}&candidate=${candidate}`));
  assertEquals(response.status, 200);
  const comparison = await response.json();
  assertEquals(StoredComparison.strict().parse(comparison), comparison);
  assertEquals(comparison.verdict, "regressed");
  assertEquals(comparison.baseline.model_id, "good");
  const { test_name, ...run } = comparison.candidate;
  assertMatch(test_name, /^batch-[0-9a-f]{8}$/);
  assertEquals(run, {
    run_id: candidate,
    model_id: "bad",
    endpoint: "http://127.0.0.1:9/v1",
    attempts: 1,
    status: "completed",
  });
  assertEquals(comparison.scores.overall.difference, -1);
});

Deno.test("the answer has one verdict and one p-value; detail=full has the rest", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const query = `baseline=${run_id}&candidate=${run_id}&decide_by=token_f1`;
  const brief = await (await service(get(query))).json();
  assertEquals(brief.decided_by, "token_f1");
  assertEquals(Object.keys(brief.scores.token_f1), [
    ...["baseline", "candidate", "difference", "ci95", "p", "scenarios"],
  ]);
  assertEquals(Object.keys(brief.scores.overall), [
    ...["baseline", "candidate", "difference", "ci95", "scenarios"],
  ]);
  assertEquals([brief.method, brief.scores.overall.p], [undefined, undefined]);
  const full = await (await service(get(`${query}&detail=full`))).json();
  assertEquals([full.scores.overall.p, full.scores.overall.turns], [1, 10]);
  assertStringIncludes(full.method.test, "sign-flip");
  const wrong = await service(get(`baseline=${run_id}&candidate=${run_id}&decide_by=mood`));
  assertEquals([wrong.status, (await wrong.json()).errors[0].path], [400, "decide_by"]);
});

Deno.test("a comparison needs two runs, and both must exist", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const half = await service(get(`baseline=${run_id}`));
  assertEquals([half.status, (await half.json()).errors[0].path], [400, "candidate"]);
  const unknown = await service(get(`baseline=${run_id}&candidate=none`));
  assertEquals(unknown.status, 404);
  assertStringIncludes((await unknown.json()).detail, '"none"');
});

/** Evaluates the same twelve replies with two configurations, and compares both ways. */
async function compareScoring(one: Partial<ScoringPorts>, other: Partial<ScoringPorts>) {
  const store = memoryStore();
  const batch = evaluateBody({
    test_batch: Array.from({ length: 12 }, (_, index) => ({
      id: `s${index}`,
      interactions: [{
        id: "t",
        user_message: `When will parcel ${index} come?`,
        reference_reply: `Your parcel comes on Monday, number ${index}`,
      }],
    })),
  });
  const ids: string[] = [];
  for (const ports of [one, other]) {
    const { service } = evalService(() => "It comes on Monday", {
      store,
      scoring: scoringPorts(ports),
    });
    ids.push((await evaluateWith(service, batch)).run_id);
  }
  const { service } = evalService(undefined, { store });
  const compare = async (baseline: string, candidate: string) =>
    await (await service(get(`baseline=${baseline}&candidate=${candidate}`))).json();
  return [await compare(ids[0]!, ids[1]!), await compare(ids[1]!, ids[0]!)];
}

const GRADE = '{"reason": "r", "grade": 2}';
const judgeThat = (answer: (call: number) => string) => ({
  judge: fakeJudge((_, call) => answer(call)).judge,
});
const fail = (): never => {
  throw providerError(500);
};

for (
  const [what, ports, reason] of [
    ["answers 500", judgeThat(fail), "missing_in_candidate"],
    [
      "answers 500 every second time",
      judgeThat((call) => call % 2 ? GRADE : fail()),
      "missing_in_candidate",
    ],
    ["cannot be read", judgeThat(() => "no idea"), "missing_in_candidate"],
    ["is not configured", {}, "not_in_candidate"],
  ] as const
) {
  Deno.test(`byte-identical replies are no improvement and no regression if the judge ${what}`, async () => {
    const comparisons = await compareScoring(judgeThat(() => GRADE), ports);
    for (const { verdict, scores: { overall } } of comparisons) {
      assertEquals(verdict, "inconclusive");
      if (!overall.bounds) assertEquals(overall.difference, 0);
      else assert(overall.bounds.difference[0] <= 0 && overall.bounds.difference[1] >= 0);
    }
    const [{ left_out: [judge] }] = comparisons as [
      { left_out: { score: string; reason: string }[] },
    ];
    assertEquals([judge!.score, judge!.reason], ["judge", reason]);
  });
}

Deno.test("meanings by an embeddings endpoint and by the local encoder are not compared", async () => {
  const endpoint = fakeEmbedder({ method: "endpoint", isEnglishOnly: false }).embedder;
  for (const { verdict, scores, left_out } of await compareScoring({ embedder: endpoint }, {})) {
    assertEquals(verdict, "inconclusive");
    assertEquals(scores.semantic_similarity, undefined);
    assertEquals(
      left_out.map((found: LeftOut) => [found.score, found.turns, found.reason]),
      [["semantic_similarity", 12, "other_method"], ["overall", 12, "no_common_part"]],
    );
  }
});
