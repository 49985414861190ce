import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Target } from "../../../eval/endpoint/target.ts";
import type { Recorder } from "../../../eval/run/manager/run_ports.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
import type { TurnPosition } from "../../../eval/store/turns/position.ts";
import type { InteractionResult } from "../../../eval/schemas/interaction_result.ts";
import {
  echo,
  fakeTarget,
  interaction,
  plainAssessor,
  ports,
  runAndCollect,
  scenario,
} from "../../fakes/eval_ports.ts";

Deno.test("a result that is sent in again does not keep its old outcome", async () => {
  const { target, asked } = fakeTarget(() => "fine");
  const old = { error: { code: "x" }, judge: { grade: 1 }, annotation: {}, score_methods: {} };
  const turns = [interaction("1", { ...old, weight: 3 }), interaction("2")];
  const results: InteractionResult[] = [];
  const recorder = {
    record: (_: TurnPosition, result: InteractionResult) => void results.push(result),
  };
  await runScenarios(
    { scenarios: [scenario("s", turns)], attempts: 1 },
    ports(target, { recorder }),
  );
  assertEquals(Object.keys(old).filter((name) => name in results[0]!), []);
  assertEquals(results[0]?.weight, 3);
  assertEquals(asked[1]?.length, 3); // it was said, so it is history
});

Deno.test("an error of the service is not reported as one of the endpoint", async () => {
  const { target } = fakeTarget(() => {
    throw new TypeError("a fault of ours");
  });
  await assertRejects(
    () =>
      runScenarios({ scenarios: [scenario("s", [interaction("1")])], attempts: 1 }, ports(target)),
    TypeError,
    "a fault of ours",
  );
});

Deno.test("a turn whose scoring fails has no scores, and the run continues", async () => {
  const { target, asked } = fakeTarget(echo);
  const faults: unknown[] = [];
  const [[results]] = await runAndCollect(
    { scenarios: [scenario("s", [interaction("1"), interaction("2")])], attempts: 1 },
    ports(target, {
      assessor: {
        ...plainAssessor,
        assess: (one, reply) =>
          one.id === "1"
            ? Promise.reject(new TypeError("a poisoned reply"))
            : plainAssessor.assess(one, reply),
      },
      onUnscored: ({ scenario, attempt, turn }, error) =>
        void faults.push([[scenario, attempt, turn], (error as Error).message]),
    }),
  ) as [[InteractionResult[]]];
  assertEquals(results!.map(({ agent_reply }) => agent_reply), ["re: message 1", "re: message 2"]);
  assertEquals(results!.map(({ scores }) => scores.overall), [null, 0]);
  assertEquals(results![0]!.missing_scores, { overall: "scoring failed; see the service's log" });
  assertEquals(results![0]!.error, undefined);
  assertEquals(asked.length, 2);
  assertEquals(faults, [[[0, 0, 0], "a poisoned reply"]]);
});

Deno.test("the latency of a turn is what the endpoint took, its time also what was waited before", async () => {
  const target: Target = {
    async ask() {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { content: "hi", usage: null, latencyMs: 7 };
    },
  };
  const times: { latency: number; took: number }[] = [];
  const recorder: Recorder = {
    record: (_position, { latency_ms }, { tookMs }) =>
      void times.push({ latency: latency_ms, took: tookMs }),
  };
  const scenarios = [scenario("s", [interaction("1")])];
  await runScenarios({ scenarios, attempts: 1 }, ports(target, { recorder }));
  assertEquals(times.map(({ latency }) => latency), [7]);
  assert(times[0]!.took > 7, `${times[0]!.took} ms`);
});
