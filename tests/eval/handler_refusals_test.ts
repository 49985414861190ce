import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { evalService, evaluateBody, evaluateRequestOf } from "../fakes/eval_service.ts";

const INVALID: [what: string, body: unknown, path: string][] = [
  ["no test_batch", { endpoint: "http://h/v1", model_id: "m" }, "test_batch"],
  [
    "a scenario without an id",
    evaluateBody({ test_batch: { interactions: [{ id: "i", user_message: "u" }] } }),
    "test_batch.id",
  ],
  [
    "no interactions",
    evaluateBody({ test_batch: { id: "s", interactions: [] } }),
    "test_batch.interactions",
  ],
  [
    "an interaction without an id",
    evaluateBody({ test_batch: { id: "s", interactions: [{ user_message: "u" }] } }),
    "test_batch.interactions.0.id",
  ],
  [
    "an interaction without a user_message",
    evaluateBody({ test_batch: { id: "s", interactions: [{ id: "i" }] } }),
    "test_batch.interactions.0.user_message",
  ],
  [
    "a fault in the second scenario of a list",
    evaluateBody({
      test_batch: [{ id: "s", interactions: [{ id: "i", user_message: "u" }] }, {
        id: 7,
        interactions: [],
      }],
    }),
    "test_batch.1.id",
  ],
  ["an empty list of scenarios", evaluateBody({ test_batch: [] }), "test_batch"],
  ["an endpoint that is no URL", evaluateBody({ endpoint: "localhost" }), "endpoint"],
  ["an endpoint that is not http", evaluateBody({ endpoint: "file:///etc/passwd" }), "endpoint"],
  ["an endpoint with a password", evaluateBody({ endpoint: "http://a:b@host/v1" }), "endpoint"],
  ["no model_id", evaluateBody({ model_id: undefined }), "model_id"],
  ["a blank model_id", evaluateBody({ model_id: " " }), "model_id"],
  ["no attempts at all", evaluateBody({ attempts: 0 }), "attempts"],
  ["half an attempt", evaluateBody({ attempts: 1.5 }), "attempts"],
  ["more attempts than EVAL_MAX_ATTEMPTS", evaluateBody({ attempts: 1001 }), "attempts"],
  ["a pass_threshold above 1", evaluateBody({ pass_threshold: 1.1 }), "pass_threshold"],
  ["too many judge_votes", evaluateBody({ judge_votes: 10 }), "judge_votes"],
  ["no judge_votes at all", evaluateBody({ judge_votes: 0 }), "judge_votes"],
  ["a blank rubric", evaluateBody({ rubric: " " }), "rubric"],
  ["an unknown protocol", evaluateBody({ protocol: "grpc" }), "protocol"],
  [
    "a misspelt parameter",
    evaluateBody({ parameters: { temprature: 1 } }),
    "parameters.temprature",
  ],
];

Deno.test("a field that is missing is called so, and one that is wrong by what it must be", async () => {
  const { service } = evalService();
  const refusals = async (body: unknown) =>
    (await (await service(evaluateRequestOf(body))).json()).errors;
  const missing = ["test_batch", "endpoint", "model_id"];
  assertEquals(await refusals({}), missing.map((path) => ({ path, message: "is missing" })));
  const endpoint = `http://h/${"x".repeat(2048)}`;
  assertEquals(await refusals(evaluateBody({ endpoint, attempts: null })), [
    { path: "endpoint", message: "must have at most 2048 characters" },
    { path: "attempts", message: "Invalid input: expected number, received null" },
  ]);
  const checks = [{ type: "contains" }, { value: "x" }];
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "u", checks }] };
  const [first, second] = await refusals(evaluateBody({ test_batch }));
  const path = "test_batch.interactions.0.checks";
  assertEquals(first, { path: `${path}.0.value`, message: "is missing" });
  assertEquals(second.path, `${path}.1.type`);
  assertStringIncludes(second.message, "'contains'"); // the types that there are
});

for (const [what, body, path] of INVALID) {
  Deno.test(`${what} is refused by the name of the field, and costs no call`, async () => {
    const { service, asked } = evalService();
    const response = await service(evaluateRequestOf(body));
    const problem = await response.json();
    assertEquals([response.status, problem.code], [400, "invalid_request"]);
    assertEquals(response.headers.get("content-type"), "application/problem+json");
    assert(
      problem.errors.some((error: { path: string }) => error.path === path),
      `${path} is not among ${JSON.stringify(problem.errors)}`,
    );
    assertEquals(asked.length, 0);
  });
}

Deno.test("an endpoint that is not listed is refused, and costs no call", async () => {
  const { service, asked } = evalService(() => "fine", {
    environment: { EVAL_ENDPOINTS: "https://api.example.com" },
  });
  const response = await service(evaluateRequestOf(evaluateBody()));
  assertEquals(response.status, 403);
  assertEquals((await response.json()).code, "endpoint_not_allowed");
  assertEquals(asked.length, 0);
});
