import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Assessor } from "../../../eval/score/assessment.ts";
import type { ConversationMessage } from "../../../eval/ask/target.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
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
import { gatedTarget } from "../../fakes/gated_target.ts";

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

Deno.test("questions are asked while the assessor is still being loaded", async () => {
  const loading = Promise.withResolvers<Assessor>();
  const { target, asked } = fakeTarget((conversation) => {
    if (asked.length === 2) loading.resolve(plainAssessor);
    return echo(conversation);
  });
  const scenarios = [scenario("a", [interaction("1"), interaction("2")])];
  const [[turns] = []] = await runAndCollect(
    { scenarios, attempts: 1 },
    ports(target, { assessor: loading.promise, concurrency: 2 }),
  );
  assertEquals(turns?.map(({ id }) => id), ["1", "2"]);
});

Deno.test("a run whose assessor cannot be loaded fails, and its turns are not stored", async () => {
  const { target } = fakeTarget(echo);
  const assessor = Promise.reject(new Error("cannot load it"));
  assessor.catch(() => {});
  const recorded: TurnPosition[] = [];
  const recorder = { record: (position: TurnPosition) => void recorded.push(position) };
  const scenarios = [scenario("a", [interaction("1")])];
  await assertRejects(
    () => runScenarios({ scenarios, attempts: 1 }, ports(target, { assessor, recorder })),
    Error,
    "cannot load it",
  );
  assertEquals(recorded, []);
});

Deno.test("a worker whose reply is being assessed asks on, also after its next reply", async () => {
  const slow = Promise.withResolvers<void>();
  const gate = gatedTarget();
  const scenarios = Array.from({ length: 6 }, (_, i) => scenario(`${i}`, [interaction(`${i}`)]));
  const assessor: Assessor = {
    ...plainAssessor,
    async assess(interaction, reply) {
      if (interaction.id === "0") await slow.promise;
      return await plainAssessor.assess(interaction, reply);
    },
  };
  const run = runScenarios(
    { scenarios, attempts: 1 },
    ports(gate.target, { assessor, concurrency: 2 }),
  );
  for (let answered = 0; answered < 4; answered++) {
    await gate.reached(answered + 2); // two questions are open all the time
    gate.answer(answered);
  }
  await gate.reached(6);
  slow.resolve();
  gate.open();
  assertEquals(await run, "finished");
});

Deno.test("between two long replies the event loop runs", async () => {
  const { target } = fakeTarget(echo);
  const seen: string[] = [];
  const assessor: Assessor = {
    ...plainAssessor,
    async assess(interaction, reply) {
      seen.push(interaction.id);
      const until = performance.now() + 15;
      while (performance.now() < until); // as a long reply does
      await new Promise((resolve) => setTimeout(resolve));
      seen.push(`timer of ${interaction.id}`);
      return await plainAssessor.assess(interaction, reply);
    },
  };
  const scenarios = ["one", "two"].map((id) => scenario(id, [interaction(id)]));
  await runScenarios({ scenarios, attempts: 1 }, ports(target, { assessor }));
  assertEquals(seen, ["one", "timer of one", "two", "timer of two"]);
});

Deno.test("a quick reply is recorded after the one before it in its conversation", async () => {
  const slow = Promise.withResolvers<void>();
  const { target } = fakeTarget(echo);
  const recorded: string[] = [];
  const scenarios = [
    scenario("a", [interaction("slow"), interaction("quick")]),
    scenario("b", [interaction("other")]),
  ];
  const assessor: Assessor = {
    ...plainAssessor,
    async assess(interaction, reply) {
      if (interaction.id === "slow") await slow.promise;
      if (interaction.id === "quick") setTimeout(slow.resolve, 0);
      return await plainAssessor.assess(interaction, reply);
    },
  };
  const recorder = { record: (_: TurnPosition, { id }: { id: string }) => void recorded.push(id) };
  await runScenarios(
    { scenarios, attempts: 1 },
    ports(target, { assessor, recorder, concurrency: 2 }),
  );
  assertEquals(recorded.filter((id) => id !== "other"), ["slow", "quick"]);
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
