import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ConversationMessage } from "../../../eval/endpoint/target.ts";
import { createFairLimiter } from "../../../eval/run/fair_limiter.ts";
import { runScenarios } from "../../../eval/run/runner.ts";
import { REQUEST_FAILED } from "../../../eval/run/turn_result.ts";
import type { TurnPosition } from "../../../eval/store/store.ts";
import type { Interaction, InteractionResult } from "../../../shared/schemas/evaluate.ts";
import {
  fakeTarget,
  interaction,
  plainAssessor,
  ports,
  providerError,
  runAndCollect,
  scenario,
} from "../../fakes/eval_ports.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";

const echo = (conversation: { content: string }[]) => `re: ${conversation.at(-1)?.content}`;

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

Deno.test("the history has the generated reply, not the reference", async () => {
  const { target, asked } = fakeTarget(() => "generated");
  const turns = [interaction("1", { reference_reply: "expected" }), interaction("2")];
  await runScenarios({ scenarios: [scenario("s", turns)], attempts: 1 }, ports(target));
  assertEquals(asked[1]?.[1], { role: "assistant", content: "generated" });
});

Deno.test("every scenario is run `attempts` times", async () => {
  const { target, asked } = fakeTarget(echo);
  const scenarios = ["a", "b", "c"].map((id) => scenario(id, [interaction(id)]));
  const results = await runAndCollect({ scenarios, attempts: 4 }, ports(target));
  assertEquals(asked.length, 12);
  assertEquals(results.map((attempts) => attempts.map((turns) => turns.length)), [
    [1, 1, 1, 1],
    [1, 1, 1, 1],
    [1, 1, 1, 1],
  ]);
  assertEquals(results[1]?.[0]?.[0]?.agent_reply, "re: message b");
});

Deno.test("results are in the order of the batch, whichever conversation ends first", async () => {
  const gates = new Map([["message a", Promise.withResolvers<void>()]]);
  const target = {
    async ask(conversation: { content: string }[]) {
      await gates.get(conversation[0]!.content)?.promise;
      if (conversation[0]!.content === "message b") gates.get("message a")!.resolve();
      return { content: echo(conversation), usage: null };
    },
  };
  const scenarios = [scenario("a", [interaction("a")]), scenario("b", [interaction("b")])];
  const results = await runAndCollect({ scenarios, attempts: 1 }, ports(target));
  assertEquals(results.map(([turns]) => turns?.[0]?.id), ["a", "b"]);
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

Deno.test("as many conversations are running as the limit allows, and no more", async () => {
  let running = 0;
  let most = 0;
  const target = {
    async ask() {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 0));
      running--;
      return { content: "", usage: null };
    },
  };
  const scenarios = Array.from({ length: 30 }, (_, index) =>
    scenario(`${index}`, [
      interaction("1"),
      interaction("2"),
    ]));
  const limiter = createFairLimiter(5).forRun("http://host");
  await Promise.all(
    [1, 2].map(() =>
      runScenarios({ scenarios, attempts: 2 }, ports(target, { limiter, concurrency: 5 }))
    ),
  );
  assertEquals(most, 5);
});

Deno.test("a large run does not delay a small one", async () => {
  const order: string[] = [];
  const target = {
    async ask(conversation: { content: string }[]) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      order.push(conversation[0]!.content);
      return { content: "", usage: null };
    },
  };
  const fair = createFairLimiter(4);
  const large = Array.from({ length: 100 }, () => scenario("large", [interaction("large")]));
  const small = [scenario("small", [interaction("small")])];
  await Promise.all([
    ...[large, small].map((scenarios) => {
      const limiter = fair.forRun("http://host");
      return runScenarios({ scenarios, attempts: 1 }, ports(target, { limiter, concurrency: 4 }));
    }),
  ]);
  assert(
    order.indexOf("message small") < 20,
    `the small run came ${order.indexOf("message small")}th`,
  );
});

Deno.test("a run whose signal is aborted asks nothing more and rejects", async () => {
  const controller = new AbortController();
  const { target, asked } = fakeTarget((conversation, call) => {
    if (call === 3) controller.abort();
    return echo(conversation);
  });
  const scenarios = Array.from(
    { length: 50 },
    (_, index) => scenario(`${index}`, [interaction("1")]),
  );
  await assertRejects(
    () =>
      runScenarios(
        { scenarios, attempts: 1 },
        ports(target, { signal: controller.signal, concurrency: 1 }),
      ),
    DOMException,
  );
  assertEquals(asked.length, 3);
});

Deno.test("every turn is recorded once, with its position, in order", async () => {
  const { target } = fakeTarget(() => "");
  const seen: TurnPosition[] = [];
  const recorder = {
    async record(position: TurnPosition) {
      await Promise.resolve();
      seen.push(position);
    },
  };
  const scenarios = [scenario("s", [interaction("1"), interaction("2")])];
  await runScenarios({ scenarios, attempts: 2 }, ports(target, { recorder, concurrency: 1 }));
  assertEquals(seen, [
    { scenario: 0, attempt: 0, turn: 0 },
    { scenario: 0, attempt: 0, turn: 1 },
    { scenario: 0, attempt: 1, turn: 0 },
    { scenario: 0, attempt: 1, turn: 1 },
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

Deno.test("a turn that cannot be recorded ends the run", async () => {
  const { target } = fakeTarget(() => "");
  const recorder = { record: () => Promise.reject(new TypeError("no room")) };
  const scenarios = [scenario("s", [interaction("1")])];
  await assertRejects(
    () => runScenarios({ scenarios, attempts: 1 }, ports(target, { recorder })),
    TypeError,
    "no room",
  );
});

Deno.test("a run that waits for the limiter ends at once if it is cancelled", async () => {
  const { target, asked } = fakeTarget(() => "");
  const controller = new AbortController();
  const taken = Promise.withResolvers<void>();
  const limiter = createFairLimiter(1).forRun("http://host");
  const other = limiter(() => taken.promise);
  const run = runScenarios(
    { scenarios: [scenario("s", [interaction("1")])], attempts: 1 },
    ports(target, { limiter, signal: controller.signal }),
  );
  controller.abort();
  await assertRejects(() => run, DOMException);
  taken.resolve();
  await other;
  assertEquals(asked.length, 0);
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

Deno.test("ten thousand immediate refusals do not block the event loop", async () => {
  const { target } = fakeTarget(() => {
    throw providerError(500);
  });
  const scenarios = Array.from(
    { length: 1000 },
    (_, index) => scenario(`${index}`, [interaction("1")]),
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await runScenarios({ scenarios, attempts: 10 }, ports(target));
  clearInterval(timer);
  assert(turns > 0, "no timer ran while the run was under way");
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
  assertEquals(recorded, [{ scenario: 0, attempt: 1, turn: 1 }, {
    scenario: 0,
    attempt: 1,
    turn: 3,
  }]);
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

Deno.test("a paused run finishes its current turns, starts no other and resolves with paused", async () => {
  const gate = gatedTarget();
  let isPaused = false;
  const recorded: number[] = [];
  const scenarios = ["a", "b", "c"].map((id) => scenario(id, [interaction(id), interaction(id)]));
  const outcome = runScenarios(
    { scenarios, attempts: 1 },
    ports(gate.target, {
      concurrency: 2,
      isPaused: () => isPaused,
      recorder: { record: ({ scenario }) => void recorded.push(scenario) },
    }),
  );
  await gate.reached(2);
  isPaused = true;
  gate.open();
  assertEquals(await outcome, "paused");
  assertEquals(gate.asked, ["message a", "message b"]);
  assertEquals(recorded, [0, 1]);
});

Deno.test("a run that fails rejects after its other calls have ended", async () => {
  const gate = gatedTarget();
  const scenarios = ["a", "b"].map((id) => scenario(id, [interaction(id)]));
  const failing = {
    ask: (conversation: ConversationMessage[], signal: AbortSignal) =>
      conversation[0]!.content === "message b"
        ? Promise.reject(new TypeError("a fault of ours"))
        : gate.target.ask(conversation, signal),
  };
  await assertRejects(() => runScenarios({ scenarios, attempts: 1 }, ports(failing)), TypeError);
  assertEquals(gate.aborted, ["message a"]);
});

Deno.test("a reply is handed to the recorder before it is assessed, and assessing waits for the recorder", async () => {
  const { target } = fakeTarget(echo);
  const kept = Promise.withResolvers<void>();
  const seen: string[] = [];
  const run = runScenarios(
    { scenarios: [scenario("s", [interaction("1")])], attempts: 1 },
    ports(target, {
      assessor: {
        ...plainAssessor,
        assess(one, reply) {
          seen.push(`assess ${reply}`);
          return plainAssessor.assess(one, reply);
        },
      },
      recorder: {
        async receive(_position, { reply }) {
          seen.push(`receive ${reply.content}`);
          await kept.promise;
          seen.push("kept");
        },
        record: () => void seen.push("record"),
      },
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 0));
  kept.resolve();
  await run;
  assertEquals(seen, ["receive re: message 1", "kept", "assess re: message 1", "record"]);
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
      onUnscored: (position, error) => void faults.push([position, (error as Error).message]),
    }),
  ) as [[InteractionResult[]]];
  assertEquals(results!.map(({ agent_reply }) => agent_reply), ["re: message 1", "re: message 2"]);
  assertEquals(results!.map(({ scores }) => scores.overall), [null, 0]);
  assertEquals(results![0]!.missing_scores, { overall: "scoring failed; see the service's log" });
  assertEquals(results![0]!.error, undefined);
  assertEquals(asked.length, 2);
  assertEquals(faults, [[{ scenario: 0, attempt: 0, turn: 0 }, "a poisoned reply"]]);
});
