import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Target } from "../../../eval/endpoint/target.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateWith,
  startAsync,
  THREE_TURNS,
} from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

Deno.test("a retry asks again from the first failed turn, so that each reply fits its history", async () => {
  let calls = 0;
  /** Replies with the messages it received, and fails the second call. */
  const { service, asked, runs } = evalService((conversation) => {
    if (++calls === 2) throw providerError(500);
    const said = conversation.filter(({ role }) => role === "user").map(({ content }) => content);
    return `heard ${said.join(" ")}`;
  });
  const parent = await evaluateWith(service, evaluateBody({ test_batch: THREE_TURNS }));
  assertStringIncludes(parent.message, "1 of 3");
  const response = await callRoute(service, `POST /runs/${parent.run_id}/retry`);
  assertEquals(response.status, 202);
  const { run_id, parent_id } = await response.json();
  assertEquals(parent_id, parent.run_id);
  assertEquals(response.headers.get("location"), `/runs/${run_id}`);
  await runs.active(run_id)?.ended;
  assertEquals(asked.slice(3).map((turns) => turns.map(({ content }) => content)), [
    ["one", "heard one", "two"],
    ["one", "heard one", "two", "heard one two", "three"],
  ]);
  const child = await (await callRoute(service, `GET /runs/${run_id}`)).json();
  assertEquals([child.status, child.parent_id], ["completed", parent.run_id]);
  assertEquals(
    child.result.results.scenarios[0].attempts[0].interactions.map(
      ({ agent_reply }: { agent_reply: string }) => agent_reply,
    ),
    ["heard one", "heard one two", "heard one two three"],
  );
});

Deno.test("a retry scores turns with missing scores again, without a further call", async () => {
  let isDown = true;
  const { judge } = fakeJudge(() => {
    if (isDown) throw providerError(500);
    return JSON.stringify({ reason: "good", grade: 10 });
  });
  const { service, asked, runs } = evalService(() => "fine", { scoring: scoringPorts({ judge }) });
  const interactions = THREE_TURNS.interactions.map((turn) => ({
    ...turn,
    reference_reply: "fine",
  }));
  const parent = await evaluateWith(
    service,
    evaluateBody({ test_batch: { ...THREE_TURNS, interactions } }),
  );
  const overallOf = ({ results }: typeof parent) =>
    results.scenarios[0]!.attempts[0]!.interactions.map(({ scores }) => scores.overall);
  assertEquals(overallOf(parent), [null, null, null]);
  isDown = false;
  const response = await callRoute(service, `POST /runs/${parent.run_id}/retry`);
  assertEquals(response.status, 202);
  const { run_id } = await response.json();
  await runs.active(run_id)?.ended;
  const child = await (await callRoute(service, `GET /runs/${run_id}`)).json();
  assertEquals([child.status, overallOf(child.result)], ["completed", [1, 1, 1]]);
  assertEquals(asked.length, 3);
});

Deno.test("a run that is running, or has no failed turn, cannot be retried", async () => {
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", gate);
  const id = await startAsync(service);
  const { ended } = runs.active(id)!;
  const running = await callRoute(service, `POST /runs/${id}/retry`);
  assertEquals([running.status, (await running.json()).code], [409, "conflict"]);
  gate.open();
  await ended;
  const whole = await callRoute(service, `POST /runs/${id}/retry`);
  assertEquals([whole.status, (await whole.json()).code], [409, "conflict"]);
});

Deno.test("a repeated retry with the same key is the same run, also while it is running", async () => {
  const gate = gatedTarget();
  let isDown = true;
  const target: Target = {
    ask(conversation, signal) {
      if (isDown) return Promise.reject(providerError(500));
      return gate.target.ask(conversation, signal);
    },
  };
  const { service, runs, store } = evalService(() => "", { target });
  const parent = await evaluateWith(service, evaluateBody());
  isDown = false;
  const retry = async (key: string, id = parent.run_id) => {
    const response = await callRoute(service, `POST /runs/${id}/retry`, { "idempotency-key": key });
    return { status: response.status, body: await response.json() };
  };
  const [first, second] = await Promise.all([retry("k"), retry("k")]);
  assertEquals([first.status, second.status], [202, 202]);
  assertEquals(second.body.run_id, first.body.run_id);
  gate.open();
  await runs.active(first.body.run_id)?.ended;
  assertEquals(await retry("k"), {
    status: 202,
    body: { run_id: first.body.run_id, parent_id: parent.run_id, status: "completed" },
  });
  assertEquals((await store.listRuns({ limit: 9 })).runs.length, 2);
  assertEquals((await retry("other")).body.run_id === first.body.run_id, false);
  assertEquals((await retry("k", first.body.run_id)).status, 422);
});
