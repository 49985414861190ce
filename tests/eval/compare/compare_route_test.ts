import { assertEquals, assertStringIncludes } from "@std/assert";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";

const get = (query: string) => new Request(`http://127.0.0.1:8080/runs/compare?${query}`);

/** Ten scenarios, answered right by the model named "good" and wrong by any other. */
const body = (model_id: string, reply: string) =>
  evaluateBody({
    model_id,
    test_batch: Array.from({ length: 10 }, (_, index) => ({
      id: `s${index}`,
      interactions: [{ id: "t", user_message: reply, reference_reply: "right" }],
    })),
  });

const echo = () => evalService((conversation) => conversation.at(-1)!.content);

Deno.test("two stored runs are compared by their ids", async () => {
  const { service } = echo();
  const { run_id: baseline } = await evaluateWith(service, body("good", "right"));
  const { run_id: candidate } = await evaluateWith(service, body("bad", "wrong"));
  const response = await service(get(`baseline=${baseline}&candidate=${candidate}`));
  assertEquals(response.status, 200);
  const comparison = await response.json();
  assertEquals(comparison.verdict, "regressed");
  assertEquals(comparison.baseline.model_id, "good");
  assertEquals(comparison.candidate, {
    run_id: candidate,
    test_name: "s0",
    model_id: "bad",
    endpoint: "http://127.0.0.1:9/v1",
    attempts: 1,
    status: "completed",
  });
  assertEquals(comparison.scores.overall.difference, -1);
});

Deno.test("only the scores asked for are looked at and corrected for", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const query = `baseline=${run_id}&candidate=${run_id}&scores=overall,token_f1`;
  const comparison = await (await service(get(query))).json();
  assertEquals(Object.keys(comparison.scores), ["overall", "token_f1"]);
  assertEquals(comparison.method.scores_looked_at, 2);
});

Deno.test("a comparison needs two runs, and both must exist", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const half = await service(get(`baseline=${run_id}`));
  assertEquals([half.status, (await half.json()).errors[0].path], [400, "candidate"]);
  const unknown = await service(get(`baseline=${run_id}&candidate=none`));
  assertEquals(unknown.status, 404);
  assertStringIncludes((await unknown.json()).detail, '"none"');
});
