import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../../fakes/eval_service.ts";

/** Replies that exist already are scored, and nobody is asked. */

const answered = (id: string, ...replies: string[]) => ({
  id,
  interactions: replies.map((agent_reply, index) => ({
    id: `t${index + 1}`,
    user_message: `Question ${index + 1} of ${id}`,
    reference_reply: "Yes.",
    agent_reply,
  })),
});
const scored = (fields: Record<string, unknown>) => ({ model_id: "m", ...fields });

async function refusal(body: unknown) {
  const { service, asked } = evalService();
  const response = await service(evaluateRequestOf(body));
  const problem = await response.json();
  assertEquals([response.status, problem.code, asked.length], [400, "invalid_request", 0]);
  return problem;
}

Deno.test("without an endpoint the replies of the batch are scored, and nobody is asked", async () => {
  const { service, asked } = evalService();
  const { endpoint, results } = await evaluateWith(
    service,
    scored({ test_batch: answered("a", "Yes.", "No idea.") }),
  );
  assertEquals([endpoint, asked.length], [null, 0]);
  const [first, second] = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals([first!.agent_reply, second!.agent_reply], ["Yes.", "No idea."]);
  assertEquals([first!.scores.exact_match, second!.scores.exact_match], [1, 0]);
  assertEquals([first!.latency_ms, first!.usage], [null, null]);
});

Deno.test("with an endpoint the replies of the request are ignored", async () => {
  const { service, asked } = evalService(() => "asked");
  const { results } = await evaluateWith(
    service,
    evaluateBody({ test_batch: answered("a", "Yes.") }),
  );
  assertEquals(asked.length, 1);
  assertEquals(results.scenarios[0]!.attempts[0]!.interactions[0]!.agent_reply, "asked");
});

Deno.test("scenarios that differ in their replies only are attempts, also by attempt_id", async () => {
  const repeated = [answered("a", "one"), answered("b", "two"), answered("a", "three"), {
    ...answered("b", "four"),
  }];
  const numbered = [
    { ...answered("a", "three"), attempt_id: 2 },
    { ...answered("b", "four"), attempt_id: 2 },
    { ...answered("a", "one"), attempt_id: 1 },
    { ...answered("b", "two"), attempt_id: 1 },
  ];
  for (const test_batch of [repeated, numbered]) {
    const { service } = evalService();
    const { results, run_id } = await evaluateWith(service, scored({ test_batch }));
    assertEquals(
      results.scenarios.map(({ scenario_id, attempts }) => [
        scenario_id,
        ...attempts.map(({ interactions }) => interactions[0]!.agent_reply),
      ]),
      [["a", "one", "three"], ["b", "two", "four"]],
    );
    // What started it starts it again.
    const request = await (await callRoute(service, `GET /runs/${run_id}/request`)).json();
    assertEquals((await evaluateWith(service, request)).results.scenarios.length, 2);
  }
});

Deno.test("latency, tokens, streams and tools of existing replies are missing, never 0 or passed", async () => {
  const { service } = evalService();
  const [scenario] = [answered("a", "Yes.")];
  const checks = [
    { type: "max_latency_ms", value: 5 },
    { type: "max_first_token_ms", value: 5, negate: true },
    { type: "max_output_tokens", value: 5 },
    { type: "contains", value: "Yes" },
  ];
  const [turn] = scenario!.interactions;
  const { results, run_id } = await evaluateWith(
    service,
    scored({
      test_batch: {
        ...scenario,
        interactions: [{ ...turn, checks, reference_tools: [{ name: "search" }] }],
      },
    }),
  );
  const { scores, missing_scores, check_results } = results.scenarios[0]!.attempts[0]!
    .interactions[0]!;
  assertEquals(check_results!.map(({ value }) => value), [null, null, null, 1]);
  assertEquals([scores.tools, scores.tool_f1, scores.checks, scores.overall], Array(4).fill(null));
  assertStringIncludes(missing_scores!.tools!, "the reply existed before the run");
  assertStringIncludes(missing_scores!.checks!, "the reply existed before the run");
  const summary = await (await callRoute(service, `GET /runs/${run_id}/summary`)).json();
  assertEquals(summary.latency_ms, null);
  const list = await callRoute(service, `GET /runs/${run_id}/turns?sort=-latency_ms`);
  assertEquals((await list.json()).turns[0].latency_ms, null);
  for (const format of ["junit", "junit-scenarios", "ctrf", "csv", "markdown", "html", "jsonl"]) {
    const { status } = await callRoute(service, `GET /runs/${run_id}/export?format=${format}`);
    assertEquals(status, 200, format);
  }
});

Deno.test("a reply that says Request failed is a failed turn", async () => {
  const { service } = evalService();
  const { results, message } = await evaluateWith(
    service,
    scored({ test_batch: [answered("a", "Yes."), answered("b", "Request failed")] }),
  );
  assertEquals(message, "Evaluation completed: 1 of 2 interactions failed");
  const [failed] = results.scenarios[1]!.attempts[0]!.interactions;
  assertEquals([failed!.error!.code, failed!.scores.overall], ["request_failed", 0]);
});

Deno.test("if some replies are there and others not, the 400 says which", async () => {
  const { detail, errors } = await refusal(scored({
    test_batch: [answered("a", "Yes.", ""), answered("b", "Yes."), answered("b", "No.")],
  }));
  assertStringIncludes(detail, "3 of 6 interactions have no reply");
  assertEquals(errors.map(({ message }: { message: string }) => message), [
    'scenario "a", attempt 1, turn 1 has no agent_reply',
    'scenario "a", attempt 2, turn 0 has no agent_reply',
    'scenario "a", attempt 2, turn 1 has no agent_reply',
  ]);
});

Deno.test("replies beside a dataset find their turns by ids or positions, and unknown ids are named", async () => {
  const { service } = evalService();
  const dataset = [answered("a", ""), answered("b", "", "")];
  const put = await service(
    new Request("http://127.0.0.1:8080/datasets/known", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(dataset),
    }),
  );
  const { version } = await put.json();
  const replies = [
    { scenario_id: "a", agent_reply: "1" },
    { scenario_id: "b", interaction_id: "t2", agent_reply: "3" },
    { scenario: 1, turn: 0, agent_reply: "2" },
  ];
  const { results, run_id } = await evaluateWith(service, scored({ dataset: "known", replies }));
  const said = results.scenarios.flatMap(({ attempts }) =>
    attempts.flatMap(({ interactions }) => interactions.map(({ agent_reply }) => agent_reply))
  );
  assertEquals(said, ["1", "2", "3"]);
  const run = await (await callRoute(service, `GET /runs/${run_id}?result=false`)).json();
  assertEquals([run.dataset, run.endpoint, run.attempts], [`known@${version}`, null, 1]);

  for (
    const [more, path, message] of [
      [{ scenario_id: "c", agent_reply: "x" }, "replies.3.scenario_id", 'has the id "c"'],
      [{ scenario_id: "b", agent_reply: "x" }, "replies.3.turn", 'names no turn of scenario "b"'],
      [{ scenario_id: "a", attempt_id: 1, agent_reply: "x" }, "replies.3.attempt_id", "replies.0"],
    ] as const
  ) {
    const response = await service(
      evaluateRequestOf(scored({ dataset: "known", replies: [...replies, more] })),
    );
    const { errors } = await response.json();
    assertEquals([response.status, errors[0].path], [400, path]);
    assertStringIncludes(errors[0].message, message);
  }
});

Deno.test("what only an endpoint could do is refused without one", async () => {
  const test_batch = answered("a", "Yes.", "Yes.");
  const paths = [
    [{ history: "reference" }, "history"],
    [{ attempts: 3 }, "attempts"],
    [{ endpoint: "http://127.0.0.1:9/v1", replies: [] }, "replies"],
  ] as const;
  for (const [fields, path] of paths) {
    const { errors } = await refusal(scored({ test_batch, ...fields }));
    assertEquals(errors[0].path, path);
  }
});

Deno.test("a run of existing replies that is cut resumes with them", async () => {
  const { service, store, runs, asked } = evalService();
  const response = await service(
    evaluateRequestOf(
      scored({
        test_batch: Array.from({ length: 30 }, (_, index) => answered(`s${index}`, "Yes.")),
      }),
      { prefer: "respond-async" },
    ),
  );
  const { run_id } = await response.json();
  await runs.stop();
  const next = evalService(() => "asked", { store });
  await next.runs.resumeUnfinished();
  await next.runs.active(run_id)?.ended;
  const run = await (await callRoute(next.service, `GET /runs/${run_id}`)).json();
  assertEquals([run.status, run.progress.done, run.progress.failed], ["completed", 30, 0]);
  assert(asked.length === 0 && next.asked.length === 0);
});
