import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliContext } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];

/** Four scenarios, two of them with a tag. */
const batch = Array.from({ length: 4 }, (_, index) =>
  JSON.stringify({
    id: `s${index}`,
    ...(index > 1 && { tags: ["refund", "slow"] }),
    interactions: [{ id: "t", user_message: `question ${index}`, reference_reply: "right" }],
  })).join("\n");

function model() {
  const state: { answer: (question: string) => string } = { answer: () => "right" };
  const cli = cliContext({
    files: { "support.jsonl": batch },
    answer: (asked) => state.answer(asked.at(-1)!.content),
  });
  const questions = (from: number) => cli.asked.slice(from).map((asked) => asked.at(-1)!.content);
  return { ...cli, state, questions };
}

Deno.test("--only runs scenarios by their ids, their tags, or that failed in a run", async () => {
  const { run, state, asked, questions } = model();
  const only = async (...words: string[]) => {
    const before = asked.length;
    const ended = await run(
      ...["run", "support.jsonl", ...target, ...words.flatMap((word) => ["--only", word])],
    );
    assertEquals(ended.code, 0, ended.err);
    return questions(before).sort();
  };
  assertEquals(await only("s1"), ["question 1"]);
  assertEquals(await only("refund", "s0"), ["question 0", "question 2", "question 3"]);
  let calls = 0;
  state.answer = (question) => question === "question 2" && calls++ === 0 ? "wrong" : "right";
  await run("run", "support.jsonl", ...target, "--attempts", "2", "--threshold", "0.8");
  state.answer = () => "right";
  assertEquals(await only("failed:latest"), ["question 2"], "it passed in one of two attempts");

  const { code, err } = await run("run", "support.jsonl", ...target, "--only", "nothing");
  assertEquals(code, 1);
  assertStringIncludes(err, "--only nothing: no scenario of the batch has this id or tag");
  const none = await run("run", "support.jsonl", ...target, "--only", "failed:latest");
  assertStringIncludes(none.err, "no scenario of the batch failed there");
});

Deno.test("a run of a part is no baseline of the whole", async () => {
  const { run, files } = model();
  await run("run", "support.jsonl", ...target, "-o", "whole.json");
  const { run_id: whole } = JSON.parse(files["whole.json"]!);
  await run("run", "support.jsonl", ...target, "--only", "s1", "-o", "part.json");
  assertEquals(JSON.parse(files["part.json"]!).only, ["s1"]);
  const { err } = await run("run", "support.jsonl", ...target, "--baseline", "latest");
  assertStringIncludes(err, `baseline ${whole}\n`);
});

Deno.test("--retry-failed asks again what failed, and keeps the rest", async () => {
  const { run, state, asked, questions, store } = model();
  state.answer = (question) => {
    if (question === "question 1") throw providerError(500);
    return "right";
  };
  const first = await run("run", "support.jsonl", ...target);
  assertEquals(first.code, 0, "three of four are right");
  state.answer = () => "right";
  const before = asked.length;
  const retried = await run("run", "--retry-failed", "latest", "--threshold", "1");
  assertEquals(retried.code, 0, retried.out + retried.err);
  assertEquals(questions(before), ["question 1"]);
  assertStringIncludes(retried.out, "Turns 4 of 4: 4 passed");
  const [run1, run0] = (await store.listRuns({ limit: 2 })).runs;
  assertEquals(run1!.parentId, run0!.id);

  const again = await run("run", "--retry-failed", "latest");
  assertEquals(again.code, 1);
  assertStringIncludes(again.err, "nothing to retry: every turn of run");
  const both = await run("run", "--retry-failed", "latest", "--model", "other");
  assertStringIncludes(both.err, "--model cannot be used with --retry-failed");
});
