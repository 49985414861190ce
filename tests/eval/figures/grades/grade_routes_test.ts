import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "csv-parse/sync";
import {
  describeAgreement,
  type GradedTurn,
  meanDifference,
} from "../../../../eval/figures/rater_agreement.ts";
import { bestThreshold, fitThreshold } from "../../../../eval/figures/grades/statistics.ts";
import { differenceInterval } from "../../../../eval/figures/summary/mean_interval.ts";
import { GradeAgreement, PlacedGrade } from "../../../../eval/test/grades.ts";
import { writeCursor } from "../../../../shared/http/cursor.ts";
import { evalService, evaluateBody, evaluateWith } from "../../../fakes/eval_service.ts";
import { leastCoverage } from "../../../fakes/least_coverage.ts";
import { fakeJudge, scoringPorts } from "../../../fakes/scoring_ports.ts";
import { createSampler } from "../../../fakes/simulated_scores.ts";

const body = evaluateBody({
  attempts: 2,
  test_batch: ["a", "b", "c"].map((id) => ({
    id,
    interactions: [
      { id: "1", user_message: `${id}1`, reference_reply: "right" },
      { id: "2", user_message: `${id}2`, reference_reply: "right" },
    ],
  })),
});

/** A service with one run, and what is sent to it. */
async function graded() {
  const { judge } = fakeJudge((_question, call) => `{"reason": "so", "grade": ${call % 11}}`);
  const { service, store } = evalService(() => "right", {
    scoring: scoringPorts({ judge }),
  });
  const { run_id: id } = await evaluateWith(service, body);
  async function send(method: string, path: string, sent?: unknown) {
    const response = await service(
      new Request(`http://127.0.0.1:8080/runs/${id}${path}`, {
        method,
        ...(sent !== undefined && {
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        }),
      }),
    );
    const text = await response.text();
    const isJson = /json$/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, text, answer: isJson ? JSON.parse(text) : undefined };
  }
  return { id, service, store, send };
}

Deno.test("a grade is stored at its turn, with positions as in the list of turns", async () => {
  const { send, id } = await graded();
  const { status, answer } = await send("PUT", "/turns/1/2/0/grade", {
    value: 0.5,
    label: "too long",
    comment: "two sentences\nwould do",
    corrected_reply: "Yes.",
    author: "ann",
  });
  assertEquals(status, 200);
  assertEquals(PlacedGrade.strict().parse(answer), answer);
  const { created_at: _, ...rest } = answer;
  assertEquals(rest, {
    scenario: 1,
    scenario_id: "b",
    attempt_id: 2,
    turn: 0,
    value: 0.5,
    label: "too long",
    comment: "two sentences\nwould do",
    corrected_reply: "Yes.",
    author: "ann",
  });
  const { answer: turn } = await send("GET", "/turns/1/2/0");
  assertEquals([turn.run_id, turn.scenario_id, turn.attempt_id, turn.turn], [id, "b", 2, 0]);
});

Deno.test("each author has one grade per turn: a new one replaces it", async () => {
  const { send } = await graded();
  const path = "/turns/0/1/1/grade";
  await send("PUT", path, { value: 0.2, author: "ann", comment: "long" });
  await send("PUT", path, { value: 1 });
  await send("PUT", path, { value: 0.4, author: "ann" });
  const { answer } = await send("GET", "/turns/0/1/1/grades");
  assertEquals(
    answer.grades.map(({ author, value, comment }: PlacedGrade) => [author, value, comment]),
    [[null, 1, null], ["ann", 0.4, null]],
  );
  assertEquals((await send("GET", "/turns/0/1/0/grades")).answer, { grades: [] });
});

Deno.test("a grade is deleted by its author; lists and the agreement forget it", async () => {
  const { send } = await graded();
  const path = "/turns/0/1/1/grade";
  await send("PUT", path, { value: 0.2, author: "ann" });
  await send("PUT", path, { value: 1 });
  const { status, answer } = await send("DELETE", `${path}?author=ann`);
  assertEquals([status, answer.value], [200, 0.2]);
  assertEquals(PlacedGrade.strict().parse(answer), answer);
  const { answer: found } = await send("GET", "/turns/0/1/1/grades");
  assertEquals(found.grades.map(({ author }: { author: string | null }) => author), [null]);
  assertEquals((await send("GET", "/grades")).answer.grades.length, 1);
  assertEquals((await send("GET", "/agreement")).answer.grades, 1);
  const again = await send("DELETE", `${path}?author=ann`);
  assertEquals([again.status, again.answer.code], [404, "not_found"]);
  assertEquals((await send("DELETE", path)).status, 200);
  assertEquals((await send("DELETE", "/turns/9/1/1/grade")).status, 404);
  assertEquals((await send("DELETE", `${path}?author=a%00b`)).status, 400);
});

Deno.test("the grades of a run are listed in pages", async () => {
  const { send } = await graded();
  for (const scenario of [2, 0, 1]) {
    for (const author of ["ben", "ann"]) {
      await send("PUT", `/turns/${scenario}/1/0/grade`, { value: 1, author });
    }
  }
  const seen: string[] = [];
  let cursor: string | null = "";
  do {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const { answer }: { answer?: { grades: PlacedGrade[]; next_cursor: string | null } } =
      await send("GET", `/grades?limit=4${query}`);
    seen.push(...answer!.grades.map(({ scenario_id, author }) => `${scenario_id} ${author}`));
    cursor = answer!.next_cursor;
  } while (cursor !== null);
  assertEquals(seen, ["a ann", "a ben", "b ann", "b ben", "c ann", "c ben"]);
});

Deno.test("a bad grade is a 400 that names the field or the part of the path", async () => {
  const { send } = await graded();
  const good = { value: 0.5 };
  for (
    const [path, sent, field] of [
      ["/turns/0/1/0/grade", { value: 1.5 }, "value"],
      ["/turns/0/1/0/grade", { value: -0.1 }, "value"],
      ["/turns/0/1/0/grade", { value: "good" }, "value"],
      ["/turns/0/1/0/grade", {}, "value"],
      ["/turns/0/1/0/grade", { ...good, author: "" }, "author"],
      ["/turns/0/1/0/grade", { ...good, author: "a".repeat(201) }, "author"],
      ["/turns/0/1/0/grade", { ...good, comment: "a\0b" }, "comment"],
      ["/turns/x/1/0/grade", good, "scenario"],
      ["/turns/0/0/0/grade", good, "attempt"],
      ["/turns/0/1/-1/grade", good, "turn"],
    ] as const
  ) {
    const { status, answer } = await send("PUT", path, sent);
    const found = [status, answer.code, answer.errors[0].path];
    assertEquals(found, [400, "invalid_request", field], JSON.stringify(sent));
  }
  const { status, answer } = await send("PUT", "/turns/0/1/0/grade", { ...good, grade: 1 });
  assertEquals(status, 400);
  assertStringIncludes(answer.detail, "grade");
  assertEquals((await send("PUT", "/turns/9/1/0/grade", good)).status, 404);
  assertEquals((await send("GET", "/turns/9/1/0/grades")).status, 404);
  assertEquals((await send("GET", "/agreement?pass_threshold=2")).status, 400);
  for (const cursor of ["x", writeCursor([2 ** 31, 0, 0, ""])]) {
    assertEquals((await send("GET", `/grades?cursor=${cursor}`)).status, 400);
  }
  const unknown = await send("GET", "/agreement?score=zzz");
  assertEquals([unknown.status, unknown.answer.errors[0].path], [400, "score"]);
});

Deno.test("agreement says how people agree with each other and with the judge", async () => {
  const { send, id } = await graded();
  const { answer: none } = await send("GET", "/agreement");
  assertEquals([none.grades, none.judge], [0, null]);
  for (const scenario of [0, 1, 2]) {
    for (const attempt of [1, 2]) {
      for (const author of ["ann", "ben"]) {
        const value = Math.min(1, 0.3 * scenario + (author === "ann" ? 0.1 : 0.2));
        await send("PUT", `/turns/${scenario}/${attempt}/0/grade`, { value, author });
      }
    }
  }
  const { answer } = await send("GET", "/agreement");
  assertEquals(GradeAgreement.parse(answer), answer);
  assertEquals([answer.run_id, answer.grades, answer.graded_turns], [id, 12, 6]);
  assertEquals([answer.judge.score, answer.judge.turns], ["judge", 6]);
  assert(answer.people.alpha > 0.9);
  const { answer: overall } = await send("GET", "/agreement?score=overall&pass_threshold=0.5");
  assertEquals([overall.judge.score, overall.pass_threshold], ["overall", 0.5]);
});

Deno.test("every export carries the grades, and is as before without any", async () => {
  const { send } = await graded();
  const exported = async (format: string) => (await send("GET", `/export?format=${format}`)).text;
  const formats = ["json", "jsonl", "csv", "junit", "markdown"];
  for (const format of formats) {
    const text = await exported(format);
    assert(!text.includes("grades") && !text.includes("Graded"), format);
  }
  await send("PUT", "/turns/1/2/1/grade", { value: 0.25, author: "ann", comment: "<no>" });
  await send("PUT", "/turns/1/2/1/grade", { value: 0.75, label: "fine" });

  const { results } = JSON.parse(await exported("json"));
  const { grades } = results.scenarios[1].attempts[1].interactions[1];
  assertEquals(grades.map(({ value, author }: PlacedGrade) => [value, author]), [[0.75, null], [
    0.25,
    "ann",
  ]]);
  const lines = (await exported("jsonl")).trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map((line) => line.grades?.length ?? 0), [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
  const rows: Record<string, string>[] = parse(await exported("csv"), { columns: true });
  assertEquals([rows[7]!.grade, rows[6]!.grade], ["0.5", ""]);
  assertEquals(JSON.parse(rows[7]!.grades!).length, 2);
  assertStringIncludes(await exported("junit"), "graded 0.25 by ann (&lt;no&gt;)");
  assertStringIncludes(await exported("html"), '"author":"ann"');
  assertStringIncludes(
    await exported("markdown"),
    "- Graded by people: 1 turn, 2 grades, mean 0.500",
  );
});

Deno.test("exports of a whole run carry the agreement, and none without grades", async () => {
  const { send } = await graded();
  const exported = async (format: string) => (await send("GET", `/export?format=${format}`)).text;
  for (const format of ["json", "junit", "markdown"]) {
    const text = await exported(format);
    assert(!/"agreement"|agreement_of_people|### Agreement/.test(text), format);
  }
  for (const [scenario, value] of [0, 0.4, 1].entries()) {
    for (const author of ["ann", "ben"]) {
      await send("PUT", `/turns/${scenario}/1/0/grade`, { value, author });
    }
  }
  const { answer } = await send("GET", "/agreement");
  assertEquals(JSON.parse(await exported("json")).results.agreement, answer);
  assertStringIncludes(await exported("html"), `"agreement":${JSON.stringify(answer)}`);
  assertStringIncludes(await exported("markdown"), "### Agreement");
  const junit = await exported("junit");
  assertStringIncludes(junit, '<property name="agreement_of_people" value="1"/>');
  assertStringIncludes(
    junit,
    `<property name="agreement_with_people" value="${answer.judge.alpha}"/>`,
  );
});

Deno.test("a deleted run has no grades any more", async () => {
  const { send, store, id } = await graded();
  await send("PUT", "/turns/0/1/0/grade", { value: 1 });
  assertEquals((await send("DELETE", "")).status, 204);
  assertEquals(await Array.fromAsync(store.grades(id)), []);
  assertEquals((await send("GET", "/grades")).status, 404);
});

const gradedTurn = (
  scenario: number,
  score: number | null,
  grades: Record<string, number>,
): GradedTurn => ({
  scenario,
  score,
  grades: Object.entries(grades).map(([author, value]) => ({ author, value })),
});

const options = { score: "judge", passThreshold: 0.7 };

Deno.test("the judge is held against the mean grade of each turn, with its bias", () => {
  const found = describeAgreement([
    gradedTurn(0, 0.9, { ann: 0.8, ben: 0.6 }),
    gradedTurn(1, 0.85, { ann: 0.7 }),
    gradedTurn(2, 0.3, { ann: 0.4, ben: 0.4 }),
    gradedTurn(3, null, { ann: 0.1 }),
  ], options);
  assertEquals([found.grades, found.graded_turns], [6, 4]);
  assertEquals(found.authors.map(({ author, grades }) => [author, grades]), [["ann", 4], [
    "ben",
    2,
  ]]);
  const { judge, people } = found;
  assertEquals([judge!.turns, judge!.missing], [3, 1]);
  assertAlmostEquals(judge!.mean_difference.mean, (0.2 + 0.15 - 0.1) / 3, 1e-12);
  assertEquals(people.turns, 2);
  assertEquals(describeAgreement([], options).judge, null);
});

Deno.test("the threshold that tells best what people pass is found, and agrees at least as well as any other", () => {
  const sampler = createSampler(2);
  const pairs = Array.from({ length: 200 }, () => {
    const people = sampler.uniform();
    return [Math.min(1, Math.max(0, people ** 2 + 0.1 * sampler.normal())), people] as const;
  });
  const best = bestThreshold(pairs, 0.7)!;
  assert(Math.abs(best.threshold - 0.49) < 0.1, `${best.threshold}`);
  for (let threshold = 0; threshold <= 1; threshold += 0.01) {
    const { agreement } = fitThreshold(pairs, { threshold, passFrom: 0.7 });
    assert(agreement <= best.agreement, `${threshold} agrees in ${agreement}`);
  }
});

Deno.test("thresholds at the ends, and one that is as good as the present one", () => {
  assertEquals(bestThreshold([], 0.7), null);
  assertEquals(bestThreshold([[0.2, 1], [0.9, 1]], 0.7)!.threshold, 0);
  // No threshold lies between scores that differ by rounding alone.
  assertEquals(bestThreshold([[0.3, 0], [0.1 + 0.2, 1]], 0.7)!.threshold, 0.7);
  assertEquals(bestThreshold([[0.2, 0], [0.8, 0]], 0.7)!.threshold, 0.9);
  assertEquals(bestThreshold([[0.2, 0], [0.9, 1]], 0.7), {
    threshold: 0.7,
    agreement: 1,
    kappa: 1,
  });
  assertEquals(fitThreshold([[0.2, 1], [0.9, 1]], { threshold: 0, passFrom: 0.7 }).kappa, null);
});

Deno.test("the best threshold is a short number that does what it says", () => {
  const pairs: [number, number][] = [[0.70312, 0], [0.70349, 1], [0.70351, 1], [0.9, 1]];
  const best = bestThreshold(pairs, 0.7)!;
  assertEquals([best.threshold, best.agreement], [0.7033, 1]);
  assertEquals(bestThreshold([[0.2, 0], [6 / 7, 0]], 0.7)!.threshold, 0.9);
});

Deno.test("the present threshold is the best one if none does better, also below all scores", () => {
  const scores = [0.8, 0.9, 1, 0.9, 0.8];
  for (const grades of [[0.8, 0.9, 1, 0.85, 0.75], [0.1, 0.9, 1, 0.85, 0.75]]) {
    const pairs = scores.map((score, index) => [score, grades[index]!] as const);
    assertEquals(bestThreshold(pairs, 0.7), fitThreshold(pairs, { threshold: 0.7, passFrom: 0.7 }));
  }
  const sampler = createSampler(3);
  const tenth = () => Math.round(10 * sampler.uniform()) / 10;
  for (let round = 0; round < 500; round++) {
    const pairs = Array.from({ length: 4 }, () => [tenth(), tenth()] as const);
    const passFrom = tenth();
    const best = bestThreshold(pairs, passFrom)!;
    const present = fitThreshold(pairs, { threshold: passFrom, passFrom });
    const isBetter = best.agreement > present.agreement;
    if (!isBetter) assertEquals(best, present, JSON.stringify({ pairs, passFrom }));
  }
  const nearly: [number, number][] = [[0.7 - 1e-13, 1], [0.9, 1]]; // passes at 0.7
  assertEquals(bestThreshold(nearly, 0.7)!.threshold, 0.7);
});

Deno.test("turns of one scenario are one piece of evidence in the interval of a difference", () => {
  const spread = [0.1, 0.2, 0.3, 0.4, 0.25];
  const apart = meanDifference(spread.map((value, scenario) => ({ scenario, value })))!;
  const doubled = meanDifference(
    spread.flatMap((value, scenario) => [{ scenario, value }, { scenario, value }]),
  )!;
  assertAlmostEquals(apart.mean, 0.25, 1e-12);
  assertEquals(apart.ci95, differenceInterval(spread));
  assertAlmostEquals(doubled.ci95![0], apart.ci95![0], 1e-12);
  assertEquals(meanDifference([{ scenario: 0, value: 0.5 }]), { mean: 0.5, ci95: null });
  assertEquals(meanDifference([]), null);
});

Deno.test("the interval covers every difference of passes and failures from people's", async () => {
  for (const size of [5, 8, 12]) {
    const covered = await leastCoverage(
      size,
      (values) => meanDifference(values.map((value, scenario) => ({ scenario, value })))!.ci95!,
    );
    assert(covered >= 0.93, `${size} scenarios: ${covered}`);
  }
});

Deno.test("a judge that agrees with people in five scenarios may still differ in the next one", () => {
  const same = meanDifference([0, 1, 2, 3, 4].map((scenario) => ({ scenario, value: 0 })))!;
  assertEquals(same.mean, 0);
  assertAlmostEquals(same.ci95![0], -0.522, 0.003); // 1 − 0.025 ** (1 / 5)
  assertAlmostEquals(same.ci95![1], 0.522, 0.003);
});
