import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parse } from "csv-parse/sync";
import type { ConversationMessage, Target } from "../../../eval/ask/target.ts";
import { createKnownReplies } from "../../../eval/run/execute/known_replies.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
import { REQUEST_FAILED } from "../../../eval/test/scenario.ts";
import type { Recorder } from "../../../eval/run/manager/run_ports.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";
import type { Interaction } from "../../../eval/test/scenario.ts";
import type { TurnPosition } from "../../../eval/store/turn_record.ts";
import {
  echo,
  fakeTarget,
  interaction,
  plainAssessor,
  ports,
  providerError,
  runAndCollect,
  scenario,
} from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";

Deno.test("an attempt is one conversation: each turn has the earlier turns as history", async () => {
  const { target, asked } = fakeTarget(echo);
  const scenarios = [scenario("s", [interaction("1"), interaction("2"), interaction("3")])];
  await runScenarios({ scenarios, attempts: 1 }, ports(target));
  assertEquals(asked[2], [
    { role: "user", content: "message 1" },
    { role: "assistant", content: "re: message 1" },
    { role: "user", content: "message 2" },
    { role: "assistant", content: "re: message 2" },
    { role: "user", content: "message 3" },
  ]);
});

Deno.test("the system prompt of a scenario comes before each of its turns", async () => {
  const { target, asked } = fakeTarget(echo);
  const own = { ...scenario("s", [interaction("1"), interaction("2")]), system_prompt: "Be kind." };
  await runScenarios({ scenarios: [own], attempts: 1 }, ports(target));
  const system = { role: "system" as const, content: "Be kind." };
  assertEquals(asked.map(([first]) => first), [system, system]);
  assertEquals(asked.map((messages) => messages.length), [2, 4]);
});

Deno.test("prior messages come between the system prompt and the first turn", async () => {
  const { target, asked } = fakeTarget(echo);
  const prior_messages = [
    { role: "user" as const, content: "1+1?" },
    { role: "assistant" as const, content: "2" },
  ];
  const own = { ...scenario("s", [interaction("1")]), system_prompt: "Be kind.", prior_messages };
  await runScenarios({ scenarios: [own], attempts: 1 }, ports(target));
  assertEquals(asked, [[
    { role: "system", content: "Be kind." },
    ...prior_messages,
    { role: "user", content: "message 1" },
  ]]);
});

Deno.test("what is stored as a system prompt and is no text is not sent", async () => {
  const { target, asked } = fakeTarget(echo);
  const stored = { ...scenario("s", [interaction("1")]), system_prompt: { de: "Kurz." } as never };
  await runScenarios({ scenarios: [stored], attempts: 1 }, ports(target));
  assertEquals(asked, [[{ role: "user", content: "message 1" }]]);
});

Deno.test("the history has the generated reply, not the reference", async () => {
  const { target, asked } = fakeTarget(() => "generated");
  const turns = [interaction("1", { reference_reply: "expected" }), interaction("2")];
  await runScenarios({ scenarios: [scenario("s", turns)], attempts: 1 }, ports(target));
  assertEquals(asked[1]?.[1], { role: "assistant", content: "generated" });
});

Deno.test("a failed turn has an error, counts 0 and is not in the history of later turns", async () => {
  const { target, asked } = fakeTarget((conversation, call) => {
    if (call === 2) throw providerError(500);
    return echo(conversation);
  });
  const turns = [interaction("1"), interaction("2"), interaction("3")];
  const results = await runAndCollect(
    { scenarios: [scenario("s", turns)], attempts: 1 },
    ports(target),
  );
  const failed = results[0]?.[0]?.[1];
  assertEquals(failed?.agent_reply, REQUEST_FAILED);
  assertEquals(failed?.agent_reply, "Request failed");
  assertEquals(failed?.generated_metadata, {});
  assertEquals(failed?.error, {
    code: "provider_error",
    status: 500,
    detail: "the endpoint answered 500",
  });
  assertEquals(failed?.scores, { overall: 0 });
  assertEquals(asked[2]?.map((turn) => turn.content), [
    "message 1",
    "re: message 1",
    "message 3",
  ]);
});

Deno.test("the next turn is asked while one is being recorded, but never while two are", async () => {
  const disk = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const { target, asked } = fakeTarget((_conversation, call) => {
    if (call === 2) second.resolve();
    return "";
  });
  const recorder = { record: () => disk.promise };
  const turns = ["1", "2", "3"].map((id) => interaction(id));
  const run = runScenarios(
    { scenarios: [scenario("s", turns)], attempts: 1 },
    ports(target, { recorder, concurrency: 1 }),
  );
  await second.promise; // the first is still being recorded
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(asked.length, 2);
  disk.resolve();
  assertEquals(await run, "finished");
  assertEquals(asked.length, 3);
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

Deno.test("finished turns are not asked again, and are in the history of the others", async () => {
  const { target, asked } = fakeTarget(echo);
  const turns = ["1", "2", "3", "4"].map((id) => interaction(id));
  const recorded: TurnPosition[] = [];
  const finished = {
    isWhole: ({ attempt }: { attempt: number }) => attempt === 0,
    turns: ({ attempt }: { attempt: number }) =>
      Promise.resolve(
        new Map(
          attempt === 1
            ? [[0, storedTurn([0, 1, 0]).result], [2, storedTurn([0, 1, 2]).result]]
            : [],
        ),
      ),
    replies: () => Promise.resolve(new Map()),
  };
  await runScenarios(
    { scenarios: [scenario("s", turns)], attempts: 2 },
    ports(target, {
      finished,
      recorder: { record: (position) => void recorded.push(position) },
    }),
  );
  assertEquals(recorded.map(({ attempt, turn }) => [attempt, turn]), [[1, 1], [1, 3]]);
  assertEquals(asked.map((conversation) => conversation.map(({ content }) => content)), [
    ["message 1", "reply 0.1.0", "message 2"],
    [
      "message 1",
      "reply 0.1.0",
      "message 2",
      "re: message 2",
      "message 3",
      "reply 0.1.2",
      "message 4",
    ],
  ]);
});

Deno.test("a retry scores the replies of turns whose overall is missing again, up to the first failed turn", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 3 });
  const { id: parentId } = await store.createRun({ request, testName: "t" });
  const missing = { scores: { overall: null }, missing_scores: { overall: "judge" } };
  const reply = {
    finish_reason: "length",
    reasoning: "hm",
    reply_encoding: "not utf-8" as const,
    cost: { amount: 3, currency: "USD" },
  };
  await store.recordTurn(parentId, storedTurn([0, 0, 0]));
  await store.recordTurn(parentId, storedTurn([0, 0, 1], { ...missing, ...reply }));
  await store.recordTurn(parentId, storedTurn([0, 0, 2], { error: failure }));
  await store.recordTurn(parentId, storedTurn([0, 1, 0], { error: failure }));
  await store.recordTurn(parentId, storedTurn([0, 1, 1], missing));
  const { id } = await store.createRun({ request, testName: "t", parentId });
  const replies = createKnownReplies(store, (await store.getRun(id))!)!;
  const content = {
    content: "reply 0.0.1",
    usage: null,
    finishReason: "length",
    reasoning: "hm",
    encoding: "not utf-8" as const,
    cost: { amount: 3, currency: "USD" },
  };
  const earlier = { latencyMs: 5, fromRun: parentId, reply: content };
  assertEquals(await replies({ scenario: 0, attempt: 0 }), new Map([[1, earlier]]));
  assertEquals(await replies({ scenario: 0, attempt: 1 }), new Map());
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
  assertEquals(asked[1]?.length, 3); // it was sent, so it is part of the history
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
