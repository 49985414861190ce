import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { permutationTest } from "../../../../eval/figures/compare/statistics/permutation.ts";
import type { NoisyTurn } from "../../../../eval/figures/noise/conversations.ts";
import { planHalving, splitNoise } from "../../../../eval/figures/noise.ts";
import { planPower, RunPower } from "../../../../eval/figures/power.ts";
import { aggregateScores } from "../../../../eval/figures/summary/statistics.ts";
import { RunNoise } from "../../../../eval/test/noise.ts";
import { cliContext } from "../../../fakes/cli_context.ts";
import { evalService, evaluateBody, evaluateWith } from "../../../fakes/eval_service.ts";
import { createSampler } from "../../../fakes/simulated_scores.ts";
import { aggregateScenarios } from "../../../fakes/whole_results.ts";

type Result = NoisyTurn["result"];

/** Scenarios of attempts of turns. */
async function* turnsOf(run: Result[][][]): AsyncGenerator<NoisyTurn> {
  for (const [scenario, attempts] of run.entries()) {
    for (const [attempt, turns] of attempts.entries()) {
      for (const [turn, result] of turns.entries()) {
        yield await Promise.resolve({ scenario, attempt, turn, result });
      }
    }
  }
}

const scored = (overall: number): Result => ({ scores: { overall } });

/** Graded by votes from 0 to 10, beside a similarity. */
function judged(similarity: number, ...grades: number[]): Result {
  const grade = grades.reduce((sum, grade) => sum + grade, 0) / grades.length;
  return {
    scores: {
      semantic_similarity: similarity,
      judge: grade / 10,
      overall: (similarity + grade / 10) / 2,
    },
    judge: {
      model: "j",
      grade,
      reason: null,
      votes: grades.map((grade) => ({ grade, reason: "" })),
      spread: null,
    },
  };
}

const split = async (run: Result[][][], scores?: string[]) =>
  await splitNoise("run", turnsOf(run), { ...(scores && { scores }) });

Deno.test("components of two attempts at three scenarios, computed by hand", async () => {
  // Means 0.5, 0.7, 0.9: variance 0.04. Within: 0.1² / 2 each, so 0.005; half of it is in a mean.
  const run = [[0.45, 0.55], [0.65, 0.75], [0.85, 0.95]]
    .map((attempts) => attempts.map((value) => [scored(value)]));
  const answer = await split(run);
  assertEquals(RunNoise.parse(answer), answer);
  const { components, stderr, mean, conversations } = answer.scores.overall!;
  assertAlmostEquals(mean, 0.7, 1e-12);
  assertAlmostEquals(components.attempt!.variance, 0.005, 1e-12);
  assertAlmostEquals(components.scenario!.variance, 0.04 - 0.0025, 1e-12);
  assertAlmostEquals(components.attempt!.share, 0.005 / 0.0425, 1e-12);
  assertAlmostEquals(components.attempt!.share_of_mean, 0.0025 / 0.04, 1e-12);
  assertAlmostEquals(stderr!, Math.sqrt(0.04 / 3), 1e-12);
  assertEquals([components.vote, conversations], [null, 6]);
});

Deno.test("equal scores have no noise, whatever their sum rounds to", async () => {
  for (const value of [0.1, 0.3, 0.7]) {
    for (const attempts of [1, 3]) {
      const run = Array.from({ length: 3 }, () =>
        Array.from({ length: attempts }, () => [
          judged(value, value * 10, value * 10, value * 10),
        ]));
      for (
        const { stderr, components, to_halve_stderr } of Object.values((await split(run)).scores)
      ) {
        const shares = Object.values(components).map((one) => one && [one.variance, one.share]);
        assertEquals(shares.filter((share) => share?.some((part) => part !== 0)), []);
        assertEquals([stderr, to_halve_stderr.scenarios, to_halve_stderr.cheapest], [
          0,
          null,
          null,
        ]);
      }
    }
  }
});

Deno.test("no attempts are planned if what rounding leaves would take quadrillions of them", () => {
  // A quarter of the variance is the scenarios': halving the error leaves no room for attempts.
  const conversation = { value: 0, voteLoad: 0, voteLoadOfOne: 0 };
  const plan = planHalving(Array.from({ length: 3 }, () => [conversation, conversation]), {
    components: { scenario: 0.015, attempt: 3 * 0.015 * 2, vote: 0 },
    design: { turns: 3, modelCalls: 6, gradedTurns: 0, votes: 0 },
    isSplit: { attempt: true, vote: false },
  });
  assertEquals([plan.attempts, plan.cheapest], [null, "scenarios"]);
});

Deno.test("the standard error is that of the run's statistics", async () => {
  const values = [[0.2, 0.5, 0.4], [0.9, 0.7], [0.1, 0.3, 0.2, 0.4], [0.6]];
  const { scores } = await split(
    values.map((attempts) => attempts.map((value) => [scored(value)])),
  );
  const { statistics } = aggregateScenarios(
    values.map((attempts) =>
      aggregateScores(attempts.map((overall, cluster) => ({
        scores: { overall },
        failed: false,
        cluster,
      }))).statistics
    ),
  );
  assertAlmostEquals(scores.overall!.stderr!, statistics.overall!.stderr!, 1e-12);
});

Deno.test("votes on the same reply are the judge's noise, and half of it is in an overall of two parts", async () => {
  const run = [[[judged(0.5, 4, 6)], [judged(0.5, 5, 7)]], [[judged(0.9, 8, 10)], [
    judged(0.9, 7, 9),
  ]]];
  const { scores } = await split(run);
  assertEquals(Object.keys(scores), ["overall", "judge"]);
  const { judge, overall } = scores;
  // Two votes that are 2 grades apart: variance 0.02 each.
  assertAlmostEquals(judge!.components.vote!.variance, 0.02, 1e-12);
  assertAlmostEquals(overall!.components.vote!.variance, 0.02 / 4, 1e-12);
  // Attempts differ by 0.1: 0.005, of which half a vote's variance is the judge's.
  assertAlmostEquals(judge!.components.attempt!.estimate, 0.005 - 0.01, 1e-12);
  assertEquals(judge!.components.attempt!.variance, 0);
  const shares = Object.values(judge!.components).map((component) => component!.share);
  assertAlmostEquals(shares.reduce((sum, share) => sum + share, 0), 1, 1e-12);
});

Deno.test("what a run cannot show is null, and the notes say why", async () => {
  const one = await split([[[scored(0.5)], [scored(0.7)]]]);
  assertEquals([one.scores.overall!.stderr, one.scores.overall!.to_halve_stderr.cheapest], [
    null,
    null,
  ]);
  assertStringIncludes(one.scores.overall!.notes[0]!, "one scenario does not show");
  const single = await split([[[judged(0.5, 4)]], [[judged(0.6, 8)]]]);
  const { components, notes, to_halve_stderr } = single.scores.judge!;
  assertEquals([components.attempt, components.vote], [null, null]);
  assertEquals(notes, [
    "one attempt per scenario: the noise of the model is part of scenario",
    "one vote per turn: the noise of the judge is part of attempt",
  ]);
  assertEquals(to_halve_stderr.scenarios, { needed: 8, model_calls: 6, judge_calls: 6 });
});

Deno.test("a failed call counts 0 and nobody voted on it", async () => {
  const failed: Result = {
    scores: { judge: 0, overall: 0 },
    error: { code: "provider_error", status: 500, detail: "" },
  };
  const { scores } = await split([
    [[judged(0.8, 8, 8)], [failed]],
    [[judged(0.8, 8, 8)], [judged(0.8, 8, 8)]],
  ]);
  assertAlmostEquals(scores.judge!.mean, 0.6, 1e-12);
  assertEquals(scores.judge!.components.vote!.variance, 0);
  assertAlmostEquals(scores.judge!.components.attempt!.variance, 0.16, 1e-12);
});

Deno.test("the standard error is halved by four times the scenarios, or by attempts or votes if scenarios allow", async () => {
  // The model varies most: scenarios are the same, attempts are not.
  const noisy = [[0.2, 0.8], [0.3, 0.7], [0.1, 0.9], [0.25, 0.75]]
    .map((attempts) => attempts.map((value) => [scored(value)]));
  const { to_halve_stderr: plans, components } = (await split(noisy)).scores.overall!;
  assertEquals(components.scenario!.variance, 0);
  assertEquals(plans.scenarios, { needed: 16, model_calls: 24, judge_calls: 0 });
  assertEquals(plans.attempts, { needed: 8, model_calls: 24, judge_calls: 0 });
  assertEquals(plans.votes, null);
  // Scenarios differ most: no number of attempts halves the error.
  const apart = [[0.2, 0.21], [0.9, 0.91], [0.5, 0.51]]
    .map((attempts) => attempts.map((value) => [scored(value)]));
  const { to_halve_stderr: other } = (await split(apart)).scores.overall!;
  assertEquals([other.attempts, other.cheapest], [null, "scenarios"]);
  // The judge varies most: more votes cost no call of the model.
  const votes = [[[judged(0.5, 3, 7)], [judged(0.5, 4, 6)]], [[judged(0.5, 5, 5)], [
    judged(0.5, 2, 8),
  ]]];
  const { to_halve_stderr: judgedPlans } = (await split(votes, ["judge"])).scores.judge!;
  assertEquals(judgedPlans.cheapest, "votes");
  assertEquals(judgedPlans.votes, { needed: 8, model_calls: 0, judge_calls: 24 });
});

Deno.test("at a turn that an attempt lacks, the mean of the others stands in", async () => {
  const run = [
    [[scored(0.2), scored(0.8)], [scored(0.4)]],
    [[scored(0.2), scored(0.6)], [scored(0.2), scored(0.8)]],
  ];
  const { scores } = await split(run);
  // 0.5 and (0.4 + 0.8) / 2; 0.4 and 0.5.
  assertAlmostEquals(scores.overall!.mean, (0.55 + 0.45) / 2, 1e-12);
  assert(Math.abs(scores.overall!.components.attempt!.variance - 0.005) < 1e-12);
});

/** Eight scenarios; the reply is right in some attempts. */
const body = evaluateBody({
  attempts: 4,
  test_batch: Array.from({ length: 8 }, (_, index) => ({
    id: `s${index}`,
    interactions: [{ id: "t", user_message: `${index}`, reference_reply: "right" }],
  })),
});
const answer = (_: unknown, call: number) => call % 3 === 0 ? "wrong" : "right";

const { service } = evalService(answer);
const { run_id: id } = await evaluateWith(service, body);
const get = async (path: string) => {
  const response = await service(new Request(`http://127.0.0.1:8080${path}`));
  return { status: response.status, answer: await response.json() };
};

Deno.test("GET /runs/{id}/noise splits the noise of the headline, or of the scores asked for", async () => {
  const { answer } = await get(`/runs/${id}/noise`);
  assertEquals(RunNoise.parse(answer), answer);
  assertEquals(Object.keys(answer.scores), ["overall"]);
  const { answer: chosen } = await get(`/runs/${id}/noise?scores=token_f1,chrf`);
  assertEquals(Object.keys(chosen.scores), ["token_f1", "chrf"]);
});

Deno.test("GET /runs/{id}/power says how many scenarios a difference needs", async () => {
  const { answer } = await get(`/runs/${id}/power?difference=0.1`);
  assertEquals(RunPower.parse(answer), answer);
  const { at_least, at_most } = answer.scenarios_needed;
  assert(at_least > 8 && at_least <= at_most, `${at_least} to ${at_most}`);
  const { answer: finer } = await get(`/runs/${id}/power?difference=0.05&score=token_f1`);
  assert(finer.scenarios_needed.at_least > at_least);
  const { answer: tiny } = await get(`/runs/${id}/power?difference=1e-12`);
  assertEquals(tiny.scenarios_needed.at_most, null);
  assertEquals(tiny.notes, ["so small a difference may need more than 1000000000 scenarios"]);
});

Deno.test("a run of six unlike scenarios shows no difference of unrelated models: none is above 1", async () => {
  async function* turns() {
    for (let place = 0; place < 12; place++) {
      const [scenario, attempt] = [Math.floor(place / 2), place % 2];
      const result = { scores: { overall: (scenario + (place === 0 ? 1 : 0)) % 2 } };
      yield await Promise.resolve({ scenario, attempt, turn: 0, result });
    }
  }
  const question = { score: "overall", difference: 0.1 };
  const { detectable_difference, stdev } = await planPower("run", turns(), question);
  assert(stdev.at_most! > 0.6, `${stdev.at_most}`);
  assertEquals(detectable_difference.at_most, null);
  assert(detectable_difference.at_least! > 0 && detectable_difference.at_least! < 1);
});

Deno.test("a run in which nothing differs, as if all calls failed, does not show how many are needed", async () => {
  async function* turns(scenarios: number) {
    for (let place = 0; place < 2 * scenarios; place++) {
      const [scenario, attempt] = [Math.floor(place / 2), place % 2];
      yield await Promise.resolve({
        scenario,
        attempt,
        turn: 0,
        result: { scores: { overall: 0 } },
      });
    }
  }
  const question = { score: "overall", difference: 0.1 };
  const unknown = { at_least: null, at_most: null };
  const alike = await planPower("run", turns(8), question);
  assertEquals([alike.scenarios_needed, alike.detectable_difference], [unknown, unknown]);
  assertEquals(alike.notes, [
    "all scenarios have the same score in every attempt: this does not show how they differ",
  ]);
  const single = await planPower("run", turns(1), question);
  assertEquals(single.notes, ["one scenario does not show how scenarios differ"]);
});

Deno.test("a wrong parameter and an unknown score are a 400 with the parameter, an unknown run a 404", async () => {
  for (
    const [path, parameter] of [
      [`/runs/${id}/noise?scores=overall,none`, "scores"],
      [`/runs/${id}/power`, "difference"],
      [`/runs/${id}/power?difference=0`, "difference"],
      [`/runs/${id}/power?difference=2`, "difference"],
      [`/runs/${id}/power?difference=0.1&score=none`, "score"],
    ] as const
  ) {
    const { status, answer } = await get(path);
    assertEquals([status, answer.code, answer.errors[0].path], [
      400,
      "invalid_request",
      parameter,
    ], path);
  }
  assertEquals((await get("/runs/none/noise")).status, 404);
  assertEquals((await get("/runs/none/power?difference=0.1")).status, 404);
});

Deno.test("exports have the noise only if they are asked for it", async () => {
  const text = async (query: string) =>
    await (await service(new Request(`http://127.0.0.1:8080/runs/${id}/export?${query}`))).text();
  const { scores } = (await get(`/runs/${id}/noise`)).answer;
  assertEquals(JSON.parse(await text("format=json&noise=true")).results.noise, scores);
  assert(!("noise" in JSON.parse(await text("format=json")).results));
  assertStringIncludes(await text("format=markdown&noise=true"), "### Noise of `overall`\n");
  assert(!(await text("format=markdown")).includes("Noise"));
});

Deno.test("the command line shows the noise of a run with several attempts, and plans", async () => {
  const { run } = cliContext({
    files: { "b.json": JSON.stringify(body) },
    answer,
  });
  await run("run", "b.json", "--threshold", "0");
  const { out } = await run("show", "latest");
  assertStringIncludes(out, "\nNoise of overall\n");
  assertStringIncludes(out, "the model varies");
  assertStringIncludes(out, "Standard error of the mean 0.");
  const planned = await run("power", "latest", "--difference", "0.1");
  assertStringIncludes(planned.out, "Scenarios for a difference of 0.1 in overall with 80 % power");
  assertStringIncludes(planned.out, "by the same in every scenario");
  const { out: json } = await run("power", "latest", "--difference", "0.1", "--json");
  assertEquals(JSON.parse(json).difference, 0.1);
  assertEquals((await run("power", "latest")).code, 1);
  assertEquals((await run("power", "latest", "--difference", "0")).code, 1);
  await run("export", "latest", "--noise", "--output", "out.json");
});

Deno.test("passes and failures need more scenarios than scores that vary as much", async () => {
  const sampler = createSampler(5);
  async function* simulate(attempt: () => number) {
    for (let scenario = 0; scenario < 400; scenario++) {
      for (let index = 0; index < 2; index++) {
        const result = { scores: { overall: attempt() } };
        yield await Promise.resolve({ scenario, attempt: index, turn: 0, result });
      }
    }
  }
  const passes = () => sampler.uniform() < 0.3 ? 1 : 0;
  const scores = () => 0.3 + Math.sqrt(0.21) * sampler.normal();
  const plan = (attempt: () => number) =>
    planPower("run", simulate(attempt), { score: "overall", difference: 0.25 });
  const [passing, scored] = [await plan(passes), await plan(scores)];
  const { stdev, scenarios_needed: { at_least: needed } } = passing;
  assertAlmostEquals(stdev.at_least!, scored.stdev.at_least!, 0.05);
  assert(needed! >= scored.scenarios_needed.at_least! + 2, `${needed}`);
  let found = 0;
  const rounds = 300;
  for (let round = 0; round < rounds; round++) {
    const pairs = Array.from({ length: needed! }, () => ({
      baseline: [passes(), passes()],
      candidate: [0, 0].map(() => sampler.uniform() < 0.55 ? 1 : 0),
    }));
    const options = { seed: round, pause: () => Promise.resolve(), draws: 400 };
    if (await permutationTest(pairs, options) < 0.05) found++;
  }
  assert(Math.abs(found / rounds - 0.8) <= 0.1, `${found / rounds}`);
});

Deno.test("the least number of a simulated run shows the difference in about 80 % of comparisons", async () => {
  const sampler = createSampler(3);
  const [scenarios, attempts, better] = [60, 4, 0.04];
  const level = () => 0.5 + 0.15 * sampler.normal();
  const attempt = (own: number) => own + 0.1 * sampler.normal();
  async function* simulate() {
    for (let scenario = 0; scenario < scenarios; scenario++) {
      const own = level();
      for (let index = 0; index < attempts; index++) {
        const result = { scores: { overall: attempt(own) } };
        yield await Promise.resolve({ scenario, attempt: index, turn: 0, result });
      }
    }
  }
  const question = { score: "overall", difference: better };
  const plan = await planPower("run", simulate(), question);
  assertAlmostEquals(plan.stdev.at_least!, Math.sqrt(2) * 0.1 / 2, 0.01);
  assertAlmostEquals(plan.stdev.at_most!, Math.sqrt(2 * (0.15 ** 2 + 0.1 ** 2 / 4)), 0.04);
  let found = 0;
  const rounds = 300;
  for (let round = 0; round < rounds; round++) {
    const pairs = Array.from({ length: plan.scenarios_needed.at_least! }, () => {
      const own = level();
      const draw = (better: number) =>
        Array.from({ length: attempts }, () => attempt(own) + better);
      return { baseline: draw(0), candidate: draw(better) };
    });
    const options = { seed: round, pause: () => Promise.resolve(), draws: 400 };
    if (await permutationTest(pairs, options) < 0.05) found++;
  }
  assert(Math.abs(found / rounds - 0.8) <= 0.1, `${found / rounds}`);
});
