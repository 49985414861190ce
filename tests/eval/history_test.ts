import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import type { ConversationMessage } from "../../eval/ask/target.ts";
import { cliContext } from "../fakes/cli_context.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../fakes/eval_service.ts";

const TURNS = ["first", "second", "third"];

/** Scenarios of three turns whose references say "right first" and so on. */
function batch(scenarios: number) {
  return Array.from({ length: scenarios }, (_, index) => ({
    id: `s${index}`,
    interactions: TURNS.map((id) => ({ id, asked: index === 0 ? id : `${id} ${index}` }))
      .map(({ id, asked }) => ({
        id,
        user_message: asked,
        reference_reply: `right ${asked}`,
        checks: [{ type: "equals", value: `right ${asked}` }],
      })),
  }));
}

/** Wrong at first, and later right only if all earlier replies were right. */
function cascading(conversation: ConversationMessage[]): string {
  const said = conversation.filter(({ role }) => role === "assistant");
  const isRight = said.length > 0 && said.every(({ content }) => content.startsWith("right"));
  return `${isRight ? "right" : "wrong"} ${conversation.at(-1)!.content}`;
}

/** Wrong in every turn but the first, whatever the history. */
function failingLater(conversation: ConversationMessage[]): string {
  return `${conversation.length === 1 ? "right" : "wrong"} ${conversation.at(-1)!.content}`;
}

Deno.test("both histories are two runs, and their comparison says whether errors cascade", async () => {
  const differenceBy = async (model: typeof cascading) => {
    const { service, asked } = evalService(model);
    const body = evaluateBody({ test_batch: batch(8), attempts: 2, history: "both" });
    const { runs, pairs: [pair] } = await (await service(evaluateRequestOf(body))).json();
    assertEquals(asked.length, 2 * 8 * 2 * 3);
    assertEquals(runs.map(({ name }: { name: string }) => name), [
      body.model_id,
      `${body.model_id} after the references`,
    ]);
    assert(pair.notes.some(({ code }: { code: string }) => code === "other_history"));
    return [pair.scores.checks.difference, pair.better];
  };
  const [gap, better] = await differenceBy(cascading);
  assertAlmostEquals(gap, 2 / 3, 1e-12);
  assert(better.endsWith("after the references"));
  assertEquals(await differenceBy(failingLater), [0, null]);
});

Deno.test("with the reference history every turn is asked after the references", async () => {
  const { service, asked } = evalService(cascading);
  const answer = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch(1), history: "reference" }),
  );
  assertEquals(asked.map((conversation) => conversation.map(({ content }) => content)), [
    ["first"],
    ["first", "right first", "second"],
    ["first", "right first", "second", "right second", "third"],
  ]);
  assertAlmostEquals(answer.results.average_scores.checks!, 2 / 3, 1e-12);
});

Deno.test("checks of a conversation look at the model's replies, whatever turns are asked after", async () => {
  const { service } = evalService((conversation) => `wrong ${conversation.at(-1)!.content}`);
  const [scenario] = batch(1);
  const conversation_checks = [
    { type: "contains", value: ["wrong second", "wrong third"] },
    { type: "not_contains", value: "right second" },
  ];
  const valuesOf = async (history: string) => {
    const test_batch = [{ ...scenario, conversation_checks }];
    const { results } = await evaluateWith(service, evaluateBody({ test_batch, history }));
    return results.scenarios[0]!.attempts.map(({ interactions }) =>
      interactions.at(-1)!.check_results!.slice(1).map(({ value }) => value)
    );
  };
  assertEquals(await valuesOf("generated"), [[1, 1]]);
  assertEquals(await valuesOf("reference"), [[1, 1]]);
});

Deno.test("a history that is not known, or that needs references, is a 400 with its path", async () => {
  const { service, asked } = evalService();
  const refuse = async (body: Record<string, unknown>) => {
    const response = await service(evaluateRequestOf(evaluateBody(body)));
    assertEquals(response.status, 400);
    return (await response.json()).errors.map(({ path }: { path: string }) => path);
  };
  assertEquals(await refuse({ history: "none" }), ["history"]);
  const bare = {
    id: "s",
    interactions: [1, 2, 3].map((id) => ({ id: `${id}`, user_message: "Hi" })),
  };
  assertEquals(await refuse({ history: "both", test_batch: bare }), [
    "test_batch.interactions.0.reference_reply",
    "test_batch.interactions.1.reference_reply",
  ]);
  assertEquals(await refuse({ history: "reference", test_batch: [bare] }), [
    "test_batch.0.interactions.0.reference_reply",
    "test_batch.0.interactions.1.reference_reply",
  ]);
  assertEquals(asked, []);
});

Deno.test("the command line takes the history and compares both", async () => {
  const cli = cliContext({
    files: { "b.json": JSON.stringify(batch(3)) },
    answer: cascading,
  });
  const args = ["--endpoint", "http://127.0.0.1:9", "--model", "m", "--history", "both"];
  const { out } = await cli.run("run", "b.json", ...args);
  assertStringIncludes(out, "m after the references");
  const { code, err } = await cli.run("run", "b.json", ...args.slice(0, -1), "sideways");
  assertEquals(code, 1);
  assertStringIncludes(err, "history (--history H)");
});
