import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { parse as parseCsv } from "csv-parse/sync";
import { parse as parseJunit } from "junit2json";
import type { ConversationMessage } from "../../eval/ask/target.ts";
import { cliContext } from "../fakes/cli_context.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../fakes/eval_service.ts";
import { pairIn } from "../fakes/compare_two.ts";

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

Deno.test("with both histories the gap says that errors cascade; the first turn is asked once", async () => {
  const { service, asked } = evalService(cascading);
  const answer = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch(3), attempts: 2, history: "both" }),
  );
  assertEquals(asked.length, 3 * 2 * (3 + 2));
  assertEquals(asked.filter((conversation) => conversation.length === 1).length, 3 * 2);
  const { history_gap, average_scores, pass_rate } = answer.results;
  const { ci95, ...gap } = history_gap!.checks!;
  assertEquals(gap, { generated: 0, reference: 1, gap: 1, turns: 12, scenarios: 3 });
  assertEquals(ci95, null); // of three scenarios
  assertEquals(average_scores.checks, 0); // of the generated history alone
  assertEquals(pass_rate!.mean, 0);
  const [scenario] = answer.results.scenarios;
  assertEquals(scenario!.history_gap!.checks!.turns, 4);
  assertEquals(
    scenario!.attempts.map(({ attempt_id, history_of, interactions }) => [
      attempt_id,
      history_of,
      interactions.length,
    ]),
    [[1, undefined, 3], [2, undefined, 3], [3, "reference", 2], [4, "reference", 2]],
  );
  assertEquals(scenario!.attempts[2]!.interactions[0]!.history_of, "reference");

  const read = async (format: string) => {
    const path = `/runs/${answer.run_id}/export?format=${format}`;
    return await (await service(new Request(`http://127.0.0.1:8080${path}`))).text();
  };
  const rows = parseCsv(await read("csv"), { columns: true }) as Record<string, string>[];
  assertEquals(rows.filter(({ history }) => history === "reference").length, 12);
  assertEquals((await read("jsonl")).match(/"history_of":"reference"/g)?.length, 12);
  const junit = await parseJunit(await read("junit"));
  assert(junit && "tests" in junit);
  assertEquals(junit.tests, 18);
  assertEquals((await read("junit")).match(/<testcase /g)?.length, 18);
  const markdown = await read("markdown");
  assertStringIncludes(markdown, "Turns 18 of 18");
  assertStringIncludes(markdown, "| `checks` | 0.000 | 1.000 | +1.000 | – |");
});

Deno.test("turns that fail by themselves have no gap", async () => {
  const { service } = evalService(failingLater);
  const answer = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch(3), history: "both" }),
  );
  assertEquals(answer.results.history_gap!.checks!.gap, 0);
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
  assertEquals(answer.results.history_gap, undefined);
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
  assertEquals(await valuesOf("both"), [[1, 1], [1, 1]]);
});

Deno.test("comparisons and the spread of a run look at the generated history alone", async () => {
  const { service } = evalService(cascading);
  const run = async (history: string) =>
    (await evaluateWith(service, evaluateBody({ test_batch: batch(6), history, attempts: 2 })))
      .run_id;
  const [plain, both] = [await run("generated"), await run("both")];
  const read = async (path: string) =>
    await (await service(new Request(`http://127.0.0.1:8080${path}`))).json();
  const { scores } = pairIn(await read(`/compare?baseline=${plain}&candidate=${both}`));
  assertEquals(scores.checks.difference, 0);
  const [own, other] = [await read(`/runs/${both}/summary`), await read(`/runs/${plain}/summary`)];
  assertEquals(own.spread, other.spread);
});

Deno.test("of runs with different histories only the first turns are compared, and that is said", async () => {
  const { service } = evalService(cascading);
  const run = async (history: string) =>
    (await evaluateWith(service, evaluateBody({ test_batch: batch(6), history }))).run_id;
  const [generated, reference, both] = [
    await run("generated"),
    await run("reference"),
    await run("both"),
  ];
  const read = async (path: string) =>
    await (await service(new Request(`http://127.0.0.1:8080${path}`))).json();
  const pair = (baseline: string, candidate: string) =>
    `baseline=${baseline}&candidate=${candidate}`;
  const found = pairIn(await read(`/compare?${pair(both, reference)}`));
  assertEquals(found.other_history, { turns: 12 });
  assertEquals([found.scores.checks.scenarios, found.scores.checks.difference], [6, 0]);
  const { turns } = await read(`/compare/turns?${pair(generated, reference)}&score=checks`);
  assertEquals(turns.map(({ candidate }: { candidate: { turn: number } }) => candidate.turn), [
    ...[0, 0, 0, 0, 0, 0],
  ]);
  const same = pairIn(await read(`/compare?${pair(generated, both)}&detail=full`));
  assertEquals([same.other_history, same.scores.checks.turns], [undefined, 18]);
  const path = `/runs/${reference}/export?format=markdown&baseline=${generated}`;
  const markdown = await (await service(new Request(`http://127.0.0.1:8080${path}`))).text();
  assertStringIncludes(
    markdown,
    "- Not compared: 12 turns after the first; one run was asked after its own replies, the " +
      "other one after the references",
  );
});

Deno.test("lists mark the turns asked the second way, and the counts are those of the averages", async () => {
  const { service } = evalService(cascading);
  const { run_id, results } = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch(2), history: "both" }),
  );
  const counted = results.check_counts!.reduce(
    (sum, { passed, failed }) => sum + passed + failed,
    0,
  );
  assertEquals([counted, results.statistics.checks!.turns], [6, 6]);
  const read = async (path: string) =>
    await (await service(new Request(`http://127.0.0.1:8080/runs/${run_id}${path}`))).json();
  const { turns } = await read("/turns");
  const second = turns.filter(({ history_of }: { history_of?: string }) => history_of);
  assertEquals([turns.length, second.length], [10, 4]);
  const { outcomes } = await read("/summary");
  assertEquals(Object.values<number>(outcomes).reduce((a, b) => a + b), 6);
});

Deno.test("the mean so far is of the turns that count, and a run that has ended has one overall only", async () => {
  const { service, store } = evalService(cascading);
  const { run_id, results } = await evaluateWith(
    service,
    evaluateBody({ test_batch: batch(2), history: "both" }),
  );
  const response = await service(new Request(`http://127.0.0.1:8080/runs/${run_id}`));
  const { progress } = await response.json();
  const stored = await store.tally(run_id);
  assertEquals([progress.done, stored.done, stored.scored], [10, 10, 6]);
  assertEquals(progress.mean, null);
  assertAlmostEquals(stored.mean!, results.average_scores.overall!, 1e-12);
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

Deno.test("the command line takes the history and shows the gap", async () => {
  const cli = cliContext({
    files: { "b.json": JSON.stringify(batch(3)) },
    answer: cascading,
  });
  const args = ["--endpoint", "http://127.0.0.1:9", "--model", "m", "--history", "both"];
  const { out } = await cli.run("run", "b.json", ...args);
  assertStringIncludes(out, "History gap");
  assertStringIncludes(out, "+1.000");
  const { code, err } = await cli.run("run", "b.json", ...args.slice(0, -1), "sideways");
  assertEquals(code, 1);
  assertStringIncludes(err, "history (--history H)");
});
