import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JudgeQuestion } from "../../../eval/assess/judge/model.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];

/** The two replies as the judge sees them. */
function replies(question: JudgeQuestion): [first: string, second: string] {
  const text = question.messages.map(({ content }) => content).join("\n");
  const reply = (name: string) =>
    new RegExp(`<${name}[^>]*>\\s*([^<]*?)\\s*<`).exec(text)?.[1] ?? text;
  return [reply("first_reply"), reply("second_reply")];
}

/** Two runs of twelve scenarios, the second one with other replies, and a judge that compares. */
async function comparedBy(
  verdict: (question: JudgeQuestion) => string,
  answer: (question: string) => string = () => "new",
) {
  // Grades are none of this judge's business.
  const { judge, asked } = fakeJudge((question) =>
    question.name === "preference" ? verdict(question) : "{}"
  );
  let reply: (question: string) => string = () => "old";
  const cli = cliContext({
    files: { "b.jsonl": batchFile(12) },
    answer: (asked) => reply(asked.at(-1)!.content),
    scoring: scoringPorts({ judge }),
  });
  await cli.run("run", "b.jsonl", ...target, "--threshold", "0");
  reply = answer;
  await cli.run("run", "b.jsonl", ...target, "--threshold", "0");
  const [candidate, baseline] = (await cli.store.listRuns({ limit: 2 })).runs.map(({ id }) => id);
  const compare = async (...options: string[]) =>
    await cli.run("compare", baseline!, candidate!, "--judge", ...options);
  const { out } = await compare("--json");
  const questions = () => asked.filter(({ name }) => name === "preference");
  return { preference: JSON.parse(out).preference, compare, questions, cli, judge };
}

Deno.test("a judge that prefers one run in both orders gives a verdict beside the score's", async () => {
  const { preference, compare, questions } = await comparedBy((question) =>
    JSON.stringify({ better: replies(question)[0] === "new" ? "first" : "second", reason: "so" })
  );
  assertEquals([preference.verdict, preference.candidate_better], ["improved", 12]);
  assertEquals(questions().length, 24, "each in both orders");
  assertEquals(preference.score.difference, 1);
  const { out } = await compare();
  assertStringIncludes(out, "prefers the candidate in 12 turns and the baseline in 0");
});

Deno.test("a judge that likes what comes first prefers nothing", async () => {
  const { preference } = await comparedBy(() => '{"better": "first", "reason": "so"}');
  assertEquals([preference.contradictory, preference.candidate_better], [12, 0]);
  assertEquals([preference.verdict, preference.score.difference], ["inconclusive", 0]);
});

Deno.test("ties are ties, also if only one order has one", async () => {
  let calls = 0;
  const { preference } = await comparedBy(() =>
    `{"better": "${calls++ % 2 ? "tie" : "first"}", "reason": "so"}`
  );
  assertEquals([preference.ties, preference.verdict], [12, "inconclusive"]);
});

Deno.test("verdicts that cannot be read are unknown, and enough of them leave the question open", async () => {
  const { preference } = await comparedBy((question) =>
    /question [0-5]\b/.test(JSON.stringify(question.messages))
      ? "the first, I think"
      : JSON.stringify({ better: replies(question)[0] === "new" ? "first" : "second" })
  );
  assertEquals(preference.missing, { judge_unreadable: 6 });
  assertEquals([preference.candidate_better, preference.verdict], [6, "inconclusive"]);
  assertEquals(preference.score.difference, null);
});

Deno.test("a call without an answer loses, and the judge is not asked about it", async () => {
  const { preference, questions } = await comparedBy(
    () => '{"better": "tie", "reason": "so"}',
    (question) => {
      if (question === "question 3") throw providerError(500);
      return "new";
    },
  );
  assertEquals([preference.baseline_better, preference.ties], [1, 11]);
  assertEquals(questions().length, 22);
});

Deno.test("POST /runs/compare answers the comparison with the preference, and needs a judge", async () => {
  const { cli, judge } = await comparedBy(() => '{"better": "tie", "reason": "so"}');
  const [candidate, baseline] = (await cli.store.listRuns({ limit: 2 })).runs.map(({ id }) => id);
  const ask = async (scoring = scoringPorts({ judge })) => {
    const { service } = evalService(undefined, { store: cli.store, scoring });
    const response = await service(
      new Request("http://127.0.0.1/runs/compare", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ baseline, candidate }),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const { status, body } = await ask();
  assertEquals([status, body.preference.ties, body.decided_by], [200, 12, "overall"]);
  assert(body.verdict !== undefined);
  assertEquals((await ask(scoringPorts())).status, 400);
});
