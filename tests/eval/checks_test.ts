import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse as parseCsv } from "csv-parse/sync";
import { createContentChecks } from "../../eval/score/content_checks.ts";
import { evaluateRequest } from "../../eval/test/evaluate_request.ts";
import type { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import { Scenario } from "../../eval/test/scenario.ts";
import type { FieldError } from "../../shared/service/errors.ts";
import { cliContext } from "../fakes/cli_context.ts";
import { providerError } from "../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  scenarioBody,
} from "../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";
import { pairIn } from "../fakes/compare_two.ts";

const first = (answer: EvaluateResponse) => answer.results.scenarios[0]!.attempts[0]!.interactions;

Deno.test("a turn's checks are a score, each with its verdict and reason", async () => {
  const { service } = evalService(() => "Your refund is on its way.");
  const answer = await evaluateWith(
    service,
    scenarioBody([{
      checks: [
        { type: "contains", value: "refund" },
        { type: "contains", value: "order", weight: 3, name: "names the order" },
      ],
    }, {}]),
  );
  const [turn, other] = first(answer);
  assertEquals(turn!.scores.checks, 0.25);
  assertEquals(turn!.scores.overall, 0.25);
  assertEquals(turn!.check_results, [
    { name: 'contains "refund"', type: "contains", value: 1, weight: 1, required: false },
    {
      name: "names the order",
      type: "contains",
      value: 0,
      weight: 3,
      required: false,
      reason: 'it does not contain "order"',
    },
  ]);
  assertEquals(other!.scores.checks, null);
  assertEquals(other!.check_results, undefined);
  assertEquals(answer.results.check_counts!.map(({ name, failed }) => [name, failed]), [
    ["names the order", 1],
    ['contains "refund"', 0],
  ]);
});

Deno.test("a scenario's checks hold for all turns, and those of the conversation once", async () => {
  const { service } = evalService((conversation) => `Reply ${conversation.length}`);
  const answer = await evaluateWith(
    service,
    scenarioBody([{}, { checks: [{ type: "contains", value: "3" }] }], {
      checks: [{ type: "starts_with", value: "Reply" }],
      conversation_checks: [
        { type: "contains", value: ["Reply 1", "Reply 3"] },
        { type: "max_chars", value: 10 },
      ],
    }),
  );
  const [one, two] = first(answer);
  assertEquals(one!.check_results!.map(({ name }) => name), ['starts_with "Reply"']);
  assertEquals(two!.check_results!.map(({ value, scope }) => [value, scope]), [
    [1, undefined],
    [1, undefined],
    [1, "conversation"],
    [0, "conversation"],
  ]);
  assertEquals(two!.scores.checks, 0.75);
});

Deno.test("a turn with a failed required check does not pass, however high its scores", async () => {
  const { service } = evalService(() => "Yes");
  const body = scenarioBody([{
    reference_reply: "Yes",
    checks: [
      { type: "equals", value: "Yes", weight: 99 },
      { type: "not_contains", value: "Yes", required: true, name: "never says yes" },
    ],
  }]);
  const answer = await evaluateWith(service, body);
  assert(first(answer)[0]!.scores.overall! > 0.98);
  assertEquals(answer.results.scenarios[0]!.pass_rate, 0);
  const read = async (format: string) => {
    const path = `/runs/${answer.run_id}/export?format=${format}`;
    return await (await service(new Request(`http://127.0.0.1:8080${path}`))).text();
  };
  const junit = await read("junit");
  assertStringIncludes(junit, 'type="required_check"');
  assertStringIncludes(junit, 'message="check not met: never says yes (it contains');
  const markdown = await read("markdown");
  assertStringIncludes(markdown, "| `never says yes` | yes | 1 | 0 | 0 |");
  const [row] = parseCsv(await read("csv"), { columns: true }) as Record<string, string>[];
  assertEquals(row!.failed_checks, "never says yes");
  assertEquals(JSON.parse(row!.check_results!).length, 2);
  assertEquals(JSON.parse(await read("jsonl")).check_results[1].value, 0);
  assertEquals(JSON.parse(await read("json")).results.check_counts[0].failed, 1);
});

Deno.test("a turn that passes names the checks that it failed", async () => {
  const { service } = evalService(() => "Yes");
  const { run_id } = await evaluateWith(
    service,
    scenarioBody([{
      reference_reply: "Yes",
      checks: [{ type: "contains", value: "Y" }, { type: "contains", value: "please" }],
    }]),
  );
  const junit = await (await service(
    new Request(`http://127.0.0.1:8080/runs/${run_id}/export?format=junit`),
  )).text();
  assertStringIncludes(junit, '<system-out>check not met: contains "please" (it does not contain');
});

Deno.test("a check that cannot be told from the reply is not met, nor is its opposite, and it is said", async () => {
  const { service } = evalService(() => "Yes");
  const answer = await evaluateWith(
    service,
    scenarioBody([{
      checks: [
        { type: "equals", value: "Yes", weight: 2 },
        { type: "max_output_tokens", value: 5 },
        { type: "language", value: "de", negate: true },
      ],
    }]),
  );
  const [turn] = first(answer);
  assertEquals([turn!.scores.checks, turn!.missing_scores], [0.5, undefined]);
  assertEquals(turn!.check_results!.map(({ value, reason }) => [value, reason]), [
    [1, undefined],
    [0, "the endpoint did not report its output tokens"],
    [0, "the text is too short to identify its language"],
  ]);
});

Deno.test("a failed call counts 0 in checks", async () => {
  const { service } = evalService(undefined, {
    target: { ask: () => Promise.reject(providerError(500)) },
  });
  const body = scenarioBody([{ checks: [{ type: "equals", value: "Yes" }] }]);
  const answer = await evaluateWith(service, body);
  assertEquals(first(answer)[0]!.scores.checks, 0);
});

Deno.test("limits of time and tokens are checked per reply and per conversation", async () => {
  const { service } = evalService(undefined, {
    target: {
      ask: () =>
        Promise.resolve({
          content: "Yes",
          usage: { input_tokens: 1, output_tokens: 4, total_tokens: 5 },
        }),
    },
  });
  const answer = await evaluateWith(
    service,
    scenarioBody([{}, {}], {
      checks: [{ type: "max_output_tokens", value: 5 }, { type: "max_latency_ms", value: 60_000 }],
      conversation_checks: [{ type: "max_output_tokens", value: 5 }],
    }),
  );
  assertEquals(
    first(answer).map(({ check_results }) => check_results!.map(({ value }) => value)),
    [[1, 1], [1, 1, 0]],
  );
});

Deno.test("a similar check asks for a least similarity, to the reference or to a text", async () => {
  const { service } = evalService(() => "your refund is on its way");
  const answer = await evaluateWith(
    service,
    scenarioBody([{
      reference_reply: "your refund is on its way",
      checks: [
        { type: "similar", min: 0.9 },
        { type: "similar", value: "the weather was fine yesterday", min: 0.5 },
      ],
    }]),
  );
  assertEquals(first(answer)[0]!.check_results!.map(({ value }) => value), [1, 0]);
});

Deno.test("a similarity just below the least one never reads as if it reached it", async () => {
  const { service } = evalService(() => "your refund is coming soon");
  const ask = async (min: number) => {
    const reference_reply = "your refund comes";
    const [turn] = first(
      await evaluateWith(
        service,
        scenarioBody([{ reference_reply, checks: [{ type: "similar", min }] }]),
      ),
    );
    return { value: turn!.scores.semantic_similarity!, check: turn!.check_results![0]! };
  };
  const { value } = await ask(0);
  const rounded = Number(value.toFixed(3));
  assert(rounded > value, `${value}`); // these two texts are rounded up
  assertEquals((await ask(value)).check.value, 1);
  const { check } = await ask(rounded);
  assertEquals(check.value, 0);
  assertEquals(check.reason, `its similarity is ${Math.floor(value * 1000) / 1000}`);
});

Deno.test("a judge decides criteria, of a reply and of the conversation, by majority", async () => {
  const { judge, asked } = fakeJudge((question, call) => {
    if (question.name === "grade") return `{"reason": "ok", "grade": 10}`;
    const isPolite = question.messages[0]!.content.includes("polite");
    return `{"reason": "vote ${call}", "met": ${isPolite || call % 2 === 0}}`;
  });
  const { service } = evalService(() => "Certainly.", { scoring: scoringPorts({ judge }) });
  const body = {
    ...scenarioBody([{ checks: [{ type: "judge", value: "The reply is polite." }] }], {
      conversation_checks: [{ type: "judge", value: "The problem is solved." }],
    }),
    judge_votes: 2,
  };
  const [turn] = first(await evaluateWith(service, body));
  const [polite, solved] = turn!.check_results!;
  assertEquals(polite!.value, 1);
  assertEquals([solved!.value, solved!.reason], [null, "the judge's votes are tied"]);
  const texts = asked.map(({ messages }) => messages[1]!.content);
  assert(texts.some((text) => text.includes("user: Question 1\n\nassistant: Certainly.")));
});

Deno.test("comparisons have checks as a score, unless the checks differ", async () => {
  const { service } = evalService((conversation) =>
    conversation[0]!.content.includes("good") ? "Yes" : "No"
  );
  const run = async (message: string, value: string) =>
    (await evaluateWith(
      service,
      evaluateBody({
        test_batch: Array.from({ length: 8 }, (_, index) => ({
          id: `s${index}`,
          interactions: [{
            id: "1",
            user_message: `${message} ${index}`,
            checks: [{ type: "equals", value }],
          }],
        })),
      }),
    )).run_id;
  const compare = async (baseline: string, candidate: string) => {
    const path = `/compare?baseline=${baseline}&candidate=${candidate}`;
    return pairIn(await (await service(new Request(`http://127.0.0.1:8080${path}`))).json());
  };
  const same = await compare(await run("bad", "Yes"), await run("good", "Yes"));
  assertEquals([same.scores.checks.difference, same.verdict], [1, "improved"]);
  const other = await compare(await run("bad", "Yes"), await run("good", "No"));
  assertEquals(other.scores.checks, undefined);
  assertEquals(other.left_out[0].reason, "other_expectation");
});

Deno.test("the command line runs checks, names those that failed and does not pass", async () => {
  const scenario = {
    id: "s",
    interactions: [{
      id: "1",
      user_message: "Hi",
      reference_reply: "fine",
      checks: [{ type: "contains", value: "please", required: true, name: "says please" }],
    }],
  };
  const cli = cliContext({ files: { "b.json": JSON.stringify([scenario]) } });
  const args = ["--endpoint", "http://127.0.0.1:9", "--model", "m", "--threshold", "0.1"];
  const { code, out } = await cli.run("run", "b.json", ...args);
  assertEquals(code, 100);
  assertStringIncludes(out, "says please");
  assertStringIncludes(out, "gate not met: required checks failed in 1 turn");
  const bad = [{ ...scenario, checks: [{ type: "regex", value: "(" }] }];
  using checks = createContentChecks();
  const files = { "b.json": JSON.stringify(bad) };
  const wrong = cliContext({ files, scoring: scoringPorts({ checks }) });
  const refused = await wrong.run("run", "b.json", ...args);
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.err, "test_batch.0.checks.0.value");
});

Deno.test("GET /scores explains checks", async () => {
  const { service } = evalService();
  const { scores } = await (await service(new Request("http://127.0.0.1:8080/scores"))).json();
  const names = scores.map(({ name }: { name: string }) => name);
  assert(names.includes("checks"));
  assertStringIncludes(scores.at(-1).definition, "checks");
});

const REFUSED: [string, unknown, string][] = [
  ["an unknown type", [{ type: "matches", value: "x" }], "checks.0.type"],
  ["a negative weight", [{ type: "contains", value: "x", weight: -1 }], "checks.0.weight"],
  ["a misspelt field", [{ type: "contains", value: "x", requried: true }], "checks.0"],
  ["an invalid pattern", [{ type: "regex", value: "(" }], "checks.0.value"],
  ["an invalid schema", [{ type: "json", value: { type: "strin" } }], "checks.0.value"],
  ["an unknown language", [{ type: "language", value: "tlh" }], "checks.0.value"],
  ["a judge without a judge", [{ type: "judge", value: "polite" }], "checks.0"],
  ["a similar without a text", [{ type: "similar" }], "checks.0"],
  ["a limit below 0", [{ type: "max_chars", value: -1 }], "checks.0.value"],
  ["no list", { type: "contains", value: "x" }, "checks"],
  [
    "more than 200",
    Array.from({ length: 201 }, () => ({ type: "contains", value: "x" })),
    "checks",
  ],
];

Deno.test("a bad check is a 400 that names its path, and nothing is asked", async (t) => {
  using checks = createContentChecks();
  const { service, asked } = evalService(() => "Yes", { scoring: scoringPorts({ checks }) });
  const refuse = async (body: unknown): Promise<FieldError[]> => {
    const response = await service(evaluateRequestOf(body));
    assertEquals(response.status, 400);
    const problem = await response.json();
    assertEquals(problem.code, "invalid_request");
    return problem.errors;
  };
  for (const [name, bad, path] of REFUSED) {
    await t.step(name, async () => {
      const one = await refuse(scenarioBody([{ checks: bad }]));
      assertEquals(one.map((error) => error.path)[0], `test_batch.interactions.0.${path}`);
    });
  }
  await t.step("a similar whose reference is empty", async () => {
    const [error] = await refuse(
      scenarioBody([{ reference_reply: "", checks: [{ type: "similar" }] }]),
    );
    assertEquals(error!.path, "test_batch.interactions.0.checks.0");
  });
  await t.step("in a list of scenarios, and in a scenario", async () => {
    const scenario = {
      id: "s",
      interactions: [{ id: "1", user_message: "Hi" }],
      conversation_checks: [{ type: "contains", value: "x" }, { type: "regex", value: "(" }],
    };
    const errors = await refuse(evaluateBody({ test_batch: [scenario, scenario] }));
    assertEquals(errors.map(({ path }) => path), [
      "test_batch.0.conversation_checks.1.value",
      "test_batch.1.conversation_checks.1.value",
    ]);
  });
  await t.step("a schema that is too large, and schemas that are so together", async () => {
    const json = (characters: number) => ({
      type: "json",
      value: { description: "x".repeat(characters) },
    });
    const [one] = await refuse(scenarioBody([{ checks: [json(10), json(64_001)] }]));
    assertEquals(one, {
      path: "test_batch.interactions.0.checks.1.value",
      message: "must have at most 64,000 characters",
    });
    const [all] = await refuse(scenarioBody([{ checks: new Array(5).fill(json(60_000)) }]));
    assertEquals(all, {
      path: "test_batch.interactions.0.checks",
      message: "must have at most 256,000 characters in all their schemas",
    });
  });
  await t.step("more than 200 together with the scenario's", async () => {
    const some = Array.from({ length: 150 }, () => ({ type: "contains", value: "x" }));
    const errors = await refuse(scenarioBody([{ checks: some }], { checks: some }));
    assertEquals(errors[0]!.path, "test_batch.interactions.0");
  });
  assertEquals(asked, []);
});

const TURN = { id: "1", user_message: "Hi" };

function errorsOf(scenario: Record<string, unknown>): string[] {
  return Scenario.safeParse(scenario).error?.issues
    .map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

const MISSPELT: [name: string, meant: string][] = [
  ["check", "checks"],
  ["chekcs", "checks"],
  ["reference_tool", "reference_tools"],
  ["refrence_reply", "reference_reply"],
  ["Reference_Reply", "reference_reply"],
];

for (const [name, meant] of MISSPELT) {
  Deno.test(`a turn with ${name} is refused: did you mean ${meant}`, () => {
    assertEquals(errorsOf({ id: "s", interactions: [{ ...TURN, [name]: [] }] }), [
      `interactions.0.${name}: unknown field; did you mean ${meant}?`,
    ]);
  });
}

Deno.test("a misspelt field of a scenario is refused", () => {
  assertEquals(errorsOf({ id: "s", interactions: [TURN], conversation_check: [] }), [
    "conversation_check: unknown field; did you mean conversation_checks?",
  ]);
});

Deno.test("a misspelt field of a request is refused", () => {
  const body = {
    test_batch: { id: "s", interactions: [TURN] },
    endpoint: "http://localhost:1",
    model_id: "m",
    atempts: 3,
  };
  const [issue] = evaluateRequest(10).safeParse(body).error!.issues;
  assertEquals(issue!.message, "unknown field; did you mean attempts?");
});

Deno.test("other fields are the caller's own, and are kept", () => {
  const own = { _id: 1, chunks: [], tags: ["a"], reference: "x", messages: [], notes: "" };
  const { interactions: [turn] } = Scenario.parse({ id: "s", interactions: [{ ...TURN, ...own }] });
  assertEquals({ ...turn!, ...own }, turn!);
});
