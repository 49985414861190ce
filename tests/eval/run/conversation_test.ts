import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "csv-parse/sync";
import type { ConversationMessage, Target } from "../../../eval/ask/target.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";
import type { Interaction } from "../../../eval/test/scenario.ts";
import {
  echo,
  fakeTarget,
  interaction,
  plainAssessor,
  ports,
  providerError,
  type Recorder,
  runAndCollect,
  scenario,
} from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith, scenarioBody } from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";

/** The turns of one conversation, and what the model was asked for them. */
async function converse(
  turns: Record<string, unknown>[],
  answer: Parameters<typeof evalService>[0] = echo,
  fields: Record<string, unknown> = {},
) {
  const { service, asked } = evalService(answer);
  const { results } = await evaluateWith(service, scenarioBody(turns, fields));
  return { asked, turns: results.scenarios[0]!.attempts[0]!.interactions };
}

Deno.test("each turn has the earlier turns as history, with the generated replies", async () => {
  const system_prompt = "Be kind.";
  const prior_messages = [{ role: "user", content: "1+1?" }, { role: "assistant", content: "2" }];
  const turns = [{ reference_reply: "expected" }, {}];
  const { asked } = await converse(turns, echo, { system_prompt, prior_messages });
  const first = [
    { role: "system", content: "Be kind." },
    ...prior_messages,
    { role: "user", content: "Question 1" },
  ];
  assertEquals(asked as unknown[], [first, [
    ...first,
    { role: "assistant", content: "re: Question 1" },
    { role: "user", content: "Question 2" },
  ]]);
});

Deno.test("a failed turn has an error, counts 0 and is not in the history of later turns", async () => {
  const { asked, turns } = await converse([{}, { reference_reply: "x" }, {}], (messages, call) => {
    if (call === 2) throw providerError(500);
    return echo(messages);
  });
  const { agent_reply, generated_metadata, error, scores } = turns[1]!;
  assertEquals([agent_reply, generated_metadata, scores.overall], ["Request failed", {}, 0]);
  assertEquals(error, {
    code: "provider_error",
    status: 500,
    detail: "the endpoint answered 500",
  });
  const texts = asked[2]!.map(({ content }) => content);
  assertEquals(texts, ["Question 1", "re: Question 1", "Question 3"]);
});

Deno.test("a result that is sent in again does not keep its old outcome", async () => {
  const old = { error: { code: "x" }, judge: { grade: 1 }, annotation: {}, score_methods: {} };
  const { asked, turns } = await converse([{ ...old, weight: 3 }, {}]);
  assertEquals(Object.keys(old).filter((name) => name in turns[0]!), []);
  assertEquals(turns[0]!.weight, 3);
  assertEquals(asked[1]!.length, 3); // it was sent, so it is part of the history
});

Deno.test("if replies arrive together, the next questions are sent before any reply is assessed", async () => {
  const { target, reached, open } = gatedTarget();
  const seen: string[] = [];
  const watched = {
    ask(conversation: ConversationMessage[], signal: AbortSignal) {
      seen.push(`ask ${conversation.at(-1)!.content}`);
      return target.ask(conversation, signal);
    },
  };
  const assessor = {
    ...plainAssessor,
    assess(one: Interaction, reply: string) {
      seen.push(`assess ${one.id}`);
      return plainAssessor.assess(one, reply);
    },
  };
  const scenarios = ["a", "b", "c"].map((id) => scenario(id, [interaction(id), interaction(id)]));
  const run = runScenarios({ scenarios, attempts: 1 }, ports(watched, { assessor }));
  await reached(3);
  seen.splice(0);
  open();
  await run;
  assertEquals(seen.slice(0, 3), ["ask message a", "ask message b", "ask message c"]);
  assertEquals(
    seen.slice(3).toSorted(),
    ["a", "a", "b", "b", "c", "c"].map((id) => `assess ${id}`),
  );
});

const { service } = evalService();
const turn = (id: string) => ({ id, user_message: id, reference_reply: "fine" });
const { run_id: id } = await evaluateWith(
  service,
  evaluateBody({
    attempts: 2,
    test_batch: ["s0", "s1"].map((id) => ({ id, interactions: [turn("t0"), turn("t1")] })),
  }),
);
/** The last turn of the last attempt at the last scenario. */
const PLACE = { scenario: 1, attempt_id: 2, turn: 1 };

const ask = (path: string, init?: RequestInit) =>
  service(new Request(`http://127.0.0.1:8080/runs/${id}${path}`, init));
const exported = async (format: string) =>
  await (await ask(`/export?format=${format}&bom=off`)).text();
/** A file names its scenarios by their ids. */
const numbersOf = ({ attempt_id, turn }: Record<string, unknown>) => ({
  attempt_id: Number(attempt_id),
  turn: Number(turn),
});
const placeOf = (row: Record<string, unknown>) => ({ scenario: row.scenario, ...numbersOf(row) });

Deno.test("scenarios and turns are counted from 0 and attempts from 1: in lists, events, exports and grades", async () => {
  const { turns } = await (await ask("/turns")).json();
  assertEquals(placeOf(turns.at(-1)), PLACE);
  assertEquals(placeOf(await (await ask("/turns/1/2/1")).json()), PLACE);

  const told = (await Array.fromAsync(readEvents(await ask("/events"))))
    .filter(({ event }) => event === "turn").map(({ data }) => placeOf(data));
  assertEquals(told.filter((place) => JSON.stringify(place) === JSON.stringify(PLACE)).length, 1);

  const line = (await exported("jsonl")).trim().split("\n").at(-1)!;
  assertEquals(numbersOf(JSON.parse(line)), numbersOf(PLACE));
  const rows = parse(await exported("csv"), { columns: true }) as Record<string, unknown>[];
  assertEquals(numbersOf(rows.at(-1)!), numbersOf(PLACE));

  const grade = { method: "PUT", body: JSON.stringify({ value: 1 }) };
  await ask("/turns/1/2/1/grade", { ...grade, headers: { "content-type": "application/json" } });
  const { grades } = await (await ask("/grades")).json();
  assertEquals(grades.map(placeOf), [PLACE]);
});

Deno.test("a turn that is named in words is counted from 1, as people do", async () => {
  assertStringIncludes(await exported("junit"), "turn 2: t1 (attempt 2)");
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
  const times: { latency: number | null; took: number }[] = [];
  const recorder: Recorder = {
    record: (_position, { latency_ms }, { tookMs }) =>
      void times.push({ latency: latency_ms, took: tookMs }),
  };
  const scenarios = [scenario("s", [interaction("1")])];
  await runScenarios({ scenarios, attempts: 1 }, ports(target, { recorder }));
  assertEquals(times.map(({ latency }) => latency), [7]);
  assert(times[0]!.took > 7, `${times[0]!.took} ms`);
});
