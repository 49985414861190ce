import { assertEquals } from "@std/assert";
import type { ConversationMessage } from "../../../eval/endpoint/target.ts";
import { runScenarios } from "../../../eval/run/execute/runner.ts";
import { REQUEST_FAILED } from "../../../eval/run/execute/turn_result.ts";
import type { TurnPosition } from "../../../eval/store/turns/position.ts";
import type { Interaction } from "../../../eval/schemas/scenario.ts";
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
import { storedTurn } from "../../fakes/stored_runs.ts";

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
