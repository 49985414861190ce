import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import type { JudgeQuestion } from "../../../eval/score/judge_model.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../../fakes/eval_service.ts";
import { until } from "../../fakes/until.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";
import { cliContext } from "../../fakes/cli_context.ts";

/** A stored run is scored again by another measure; the model is not asked. */

const textOf = ({ messages }: JudgeQuestion) => messages.map(({ content }) => content).join("\n");

/** Lenient, unless the rubric is strict; criteria are met. */
function createJudges(answer = grade) {
  const asked: [model: string, question: string][] = [];
  const judgeNamed = (name: string) => ({
    ...fakeJudge((question) => {
      asked.push([name, question.name]);
      const said = answer(question, name);
      return question.name === "ready" ? { text: said, isCut: false } : said;
    }).judge,
    name,
  });
  const scoring = { ...scoringPorts(), judge: judgeNamed("judge-a"), judgeNamed };
  return {
    asked,
    scoring,
    /** The questions since the last call, without the one whether the judge is there. */
    questions: () => asked.splice(0).filter(([, name]) => name !== "ready"),
  };
}

function grade(question: JudgeQuestion, model: string): string {
  if (question.name === "ready") return '{"ready": true}';
  if (question.name === "criterion") return '{"reason": "so", "met": true}';
  const isStrict = textOf(question).includes("Be strict.") || model === "judge-b";
  return `{"reason": "so", "grade": ${
    isStrict && /Question [1-3]\b/.test(textOf(question)) ? 2 : 9
  }}`;
}

const BATCH = Array.from({ length: 6 }, (_, index) => ({
  id: `s${index}`,
  interactions: [{ id: "t", user_message: `Question ${index + 1}`, reference_reply: "fine" }],
  checks: [{ type: "judge", value: "It is polite." }, { type: "contains", value: "fine" }],
}));

async function startedRun(options: Parameters<typeof evalService>[1] = {}) {
  const judges = createJudges();
  const all = evalService(() => "fine", { scoring: judges.scoring, ...options });
  const { run_id } = await evaluateWith(all.service, evaluateBody({ test_batch: BATCH }));
  judges.questions();
  all.asked.length = 0;
  const rescore = async (body: unknown, id = run_id) => {
    const response = await all.service(
      new Request(`http://127.0.0.1:8080/runs/${id}/rescore`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const finished = async (id: string) => {
    await all.runs.active(id)?.ended;
    return await (await callRoute(all.service, `GET /runs/${id}`)).json();
  };
  return { ...all, judges, run_id, rescore, finished };
}

Deno.test("with another rubric only the judge's grade is asked again, and the comparison says what it changed", async () => {
  const { service, asked, judges, run_id, rescore, finished } = await startedRun();
  const { status, body } = await rescore({ rubric: "Be strict." });
  assertEquals([status, body.parent_id], [202, run_id]);
  const run = await finished(body.run_id);
  assertEquals([run.status, run.parent_id, run.model_id, asked.length], [
    "completed",
    run_id,
    "m",
    0,
  ]);
  assertEquals(judges.questions(), Array(6).fill(["judge-a", "grade"]));
  const [first] = run.result.results.scenarios[0].attempts[0].interactions;
  assertEquals([first.agent_reply, first.scores.judge, first.scores.checks], ["fine", 0.2, 1]);
  const parent = await (await callRoute(service, `GET /runs/${run_id}`)).json();
  const [asBefore] = parent.result.results.scenarios[0].attempts[0].interactions;
  assertEquals([first.reply_from_run, first.latency_ms], [run_id, asBefore.latency_ms]);
  assertEquals(run.result.rubric, "Be strict.");

  const compare = await callRoute(
    service,
    `GET /compare?runs=${run_id},${body.run_id}`,
  );
  const { measure, pairs: [{ verdict, reason, notes }] } = await compare.json();
  assertEquals([verdict, measure.changed, measure.turns], ["inconclusive", ["rubric"], 6]);
  assertStringIncludes(reason, "both runs have the same replies");
  assertEquals(measure.verdicts, { to_passed: 0, to_not_passed: 0 });
  assertEquals([measure.score, measure.scored, measure.flipped], ["judge", 6, 0.5]);
  assertAlmostEquals(measure.shift.mean, -0.35);
  assert(measure.shift.ci95[0] < -0.35 && measure.shift.ci95[1] > -0.35);
  assertEquals(measure.people, null);
  assertStringIncludes(notes[0].detail, "0 verdicts of 6 changed by the rubric alone");
  assertStringIncludes(notes[1].detail, "50 % of 6 pass by one only");
});

Deno.test("judge against judge: verdicts, the threshold at which they agree, and people's grades", async () => {
  const { service, judges, run_id, rescore, finished } = await startedRun();
  for (const [scenario, value] of [[0, 0.1], [1, 0.2], [4, 1], [5, 0.9]]) {
    const { status } = await service(
      new Request(`http://127.0.0.1:8080/runs/${run_id}/turns/${scenario}/1/0/grade`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ value }),
      }),
    );
    assert(status < 300);
  }
  const { body } = await rescore({ judge: "judge-b", checks: [] });
  const run = await finished(body.run_id);
  assertEquals(judges.questions(), Array(6).fill(["judge-b", "grade"]));
  assertEquals(run.result.scored_by.judge, "judge-b");
  const compare = await callRoute(
    service,
    `GET /compare?runs=${run_id},${body.run_id}`,
  );
  const { measure, pairs: [{ notes }] } = await compare.json();
  assertEquals(measure.changed, ["judge", "checks"]);
  assertEquals(measure.verdicts, { to_passed: 0, to_not_passed: 3 });
  assertEquals(measure.threshold.agreement, 1);
  assert(measure.threshold.threshold <= 0.2);
  assertEquals(measure.people.turns, 4);
  assert(measure.people.candidate.alpha > measure.people.baseline.alpha);
  assertStringIncludes(notes[2].detail, "agreement with people on 4 graded replies");
});

Deno.test("with other checks no judge is asked again about what it has said", async () => {
  const { asked, judges, run_id, rescore, finished } = await startedRun();
  const checks = [BATCH[0]!.checks[0], { type: "contains", value: "never" }];
  const run = await finished((await rescore({ checks })).body.run_id);
  assertEquals([judges.questions(), asked.length], [[], 0]);
  const [turn] = run.result.results.scenarios[0].attempts[0].interactions;
  assertEquals(turn.check_results.map(({ value }: { value: number }) => value), [1, 0]);
  assertEquals([turn.scores.judge, turn.judge_cost, run.parent_id], [0.9, undefined, run_id]);
});

Deno.test("what cannot be scored again is refused with what to do", async () => {
  const gone = createJudges((question, model) => {
    if (model === "gone") throw providerError(404);
    return grade(question, model);
  });
  const { service, store, rescore } = await startedRun({ scoring: gone.scoring });
  const cases = [
    [{}, 409, "nothing differs from its measure"],
    [{ judge: "judge-a" }, 409, "nothing differs from its measure"],
    [{ judge: "gone" }, 400, "name another model with judge"],
    [{ rubrik: "x" }, 400, "rubrik"],
    [{ checks: [{ type: "regex", value: "(" }] }, 400, "is not a usable pattern"],
  ] as const;
  for (const [body, status, message] of cases) {
    const found = await rescore(body);
    assertEquals(found.status, status, message);
    assertStringIncludes(JSON.stringify(found.body), message);
  }
  assertEquals((await rescore({ rubric: "x" }, "unknown")).status, 404);
  const { run_id: cancelled } = await evaluateWith(service, evaluateBody({ test_batch: BATCH }));
  await store.setStatus(cancelled, { status: "cancelled", tally: "count" });
  const { status, body } = await rescore({ rubric: "x" }, cancelled);
  assertEquals(status, 409);
  assertStringIncludes(body.detail, `retry it first (POST /runs/${cancelled}/retry)`);
  assertEquals((await (await callRoute(service, "GET /runs")).json()).runs.length, 2);

  const { service: without } = evalService(() => "fine");
  const { run_id: unjudged } = await evaluateWith(
    without,
    evaluateBody({ test_batch: BATCH.map(({ checks: _, ...one }) => one) }),
  );
  const response = await without(
    new Request(`http://127.0.0.1:8080/runs/${unjudged}/rescore`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ rubric: "x" }),
    }),
  );
  assertEquals(response.status, 400);
  assertStringIncludes((await response.json()).detail, "set JUDGE_BASE_URL and JUDGE_MODEL");
});

Deno.test("runs with different measures are not compared, and the message names the way", async () => {
  const { service, run_id, judges } = await startedRun();
  judges.scoring.judge = judges.scoring.judgeNamed("judge-b");
  const { run_id: later } = await evaluateWith(service, evaluateBody({ test_batch: BATCH }));
  const compare = await callRoute(
    service,
    `GET /compare?runs=${run_id},${later}&decide_by=judge`,
  );
  const { measure, pairs: [{ verdict, reason, notes }] } = await compare.json();
  assertEquals([verdict, measure], ["inconclusive", undefined]);
  assertStringIncludes(reason, "score one of them again by the measure of the other");
  assertStringIncludes(JSON.stringify(notes), "POST /runs/{id}/rescore");
});

Deno.test("a rescore that is cut resumes; if its parent was deleted, it fails and says so", async () => {
  for (const isDeleted of [false, true]) {
    const held = Promise.withResolvers<void>();
    let count = 0;
    const judges = createJudges();
    const { judgeNamed } = judges.scoring;
    const slow = (name: string) => {
      const judge = judgeNamed(name);
      return {
        ...judge,
        async ask(...question: Parameters<typeof judge.ask>) {
          if (question[0].name === "grade" && ++count > 2) await held.promise;
          return await judge.ask(...question);
        },
      };
    };
    const { store, run_id } = await startedRun({
      environment: { EVAL_CONCURRENCY: "1" },
    });
    const cut = evalService(() => "asked", {
      store,
      scoring: { ...judges.scoring, judge: slow("judge-a"), judgeNamed: slow },
      environment: { EVAL_CONCURRENCY: "1" },
    });
    const response = await cut.service(
      new Request(`http://127.0.0.1:8080/runs/${run_id}/rescore`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ rubric: "Be strict." }),
      }),
    );
    const { run_id: id } = await response.json();
    await until(() => count > 2);
    const stopped = cut.runs.stop();
    held.resolve();
    await stopped;
    const { done } = await store.tally(id);
    assert(done > 0 && done < 6, `${done}`);
    if (isDeleted) await store.deleteRun(run_id);
    const next = evalService(() => "asked", { store, scoring: judges.scoring });
    judges.questions();
    await next.runs.resumeUnfinished();
    await next.runs.end(id, new AbortController().signal);
    const run = await (await callRoute(next.service, `GET /runs/${id}`)).json();
    assertEquals(next.asked.length, 0);
    if (isDeleted) {
      assertEquals(run.status, "failed");
      assertStringIncludes(run.detail, `the replies of run ${run_id} that it scores were deleted`);
    } else {
      assertEquals([run.status, run.progress.done], ["completed", 6]);
      assertEquals(judges.questions().length, 6 - done);
    }
  }
});

Deno.test("a rescore of a run of a group is no member of it", async () => {
  const { service, rescore, finished } = await startedRun();
  const response = await service(
    evaluateRequestOf(
      evaluateBody({ test_batch: BATCH, model_id: undefined, model_ids: ["m", "n"] }),
    ),
  );
  const { group_id, runs: models } = await response.json();
  const { body } = await rescore({ rubric: "Be strict." }, models[0].run_id);
  assertEquals((await finished(body.run_id)).group_id, undefined);
  const group = await (await callRoute(service, `GET /compare?group=${group_id}`)).json();
  assertEquals(group.runs.map(({ run_id }: { run_id: string }) => run_id), [
    models[0].run_id,
    models[1].run_id,
  ]);
});

Deno.test("rescore of the command line says what the rubric changed", async () => {
  const judges = createJudges();
  const { run, asked } = cliContext({
    files: {
      "b.json": JSON.stringify(BATCH),
      "strict.txt": "Be strict.",
      "checks.json": '[{"type": "contains", "value": "never"}]',
      "wrong.json": '[{"type": "contians"}]',
    },
    scoring: judges.scoring,
  });
  const target = ["--endpoint", "http://model.example/v1", "--model", "m"];
  assertEquals((await run("run", "b.json", ...target)).code, 0);
  const before = asked.length;
  const { code, out } = await run("rescore", "latest", "--rubric", "strict.txt");
  assertEquals([code, asked.length], [0, before]);
  assertStringIncludes(out, "0 verdicts of 6 changed by the rubric alone");
  const checked = await run("rescore", "latest", "--checks", "checks.json");
  assertEquals(checked.code, 100);
  assertStringIncludes(checked.out, "6 verdicts of 6 changed by the checks alone: 0 now pass");
  for (
    const [args, message] of [
      [["--checks", "wrong.json"], "cannot use --checks wrong.json: 0.type"],
      [["--checks", "strict.txt"], "it is not JSON"],
      [[], "nothing differs from its measure"],
    ] as const
  ) {
    const { code, err } = await run("rescore", "latest", ...args);
    assertEquals(code, 1);
    assertStringIncludes(err, message);
  }
});
