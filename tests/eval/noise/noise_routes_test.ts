import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { permutationTest } from "../../../eval/compare/statistics/permutation.ts";
import { planPower, RunPower } from "../../../eval/noise/power.ts";
import { RunNoise } from "../../../eval/schemas/noise.ts";
import { cliContext } from "../../fakes/cli_context.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { createSampler } from "../../fakes/simulated_scores.ts";

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
  const { answer: chosen } = await get(`/runs/${id}/noise?scores=token_f1,bleu`);
  assertEquals(Object.keys(chosen.scores), ["token_f1", "bleu"]);
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
    "all scenarios have the same score in every attempt: this shows nothing of how they differ",
  ]);
  const single = await planPower("run", turns(1), question);
  assertEquals(single.notes, ["one scenario shows nothing of how scenarios differ"]);
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
