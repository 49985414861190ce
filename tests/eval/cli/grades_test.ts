import { assertEquals, assertStringIncludes } from "@std/assert";
import { cliContext } from "../../fakes/cli_context.ts";
import { evaluateBody } from "../../fakes/eval_service.ts";

const body = evaluateBody({
  test_batch: ["a", "b", "c"].map((id) => ({
    id,
    interactions: [{ id: "1", user_message: `${id}1`, reference_reply: "right" }],
  })),
});

Deno.test("a file of grades gives and withdraws; with one line that cannot be imported it changes nothing", async () => {
  const line = (scenario: number, value: number | null, author = "ann") =>
    JSON.stringify({ scenario, attempt_id: 1, turn: 0, value, author });
  const files: Record<string, string> = {
    "b.json": JSON.stringify(body),
    "far.jsonl": `${line(0, 1)}\n\n${line(9, 1)}\n${line(1, 1)}\n`,
    "none.jsonl": `${line(0, 1)}\n${line(1, null)}\n`,
    "twice.jsonl": `${line(0, 1)}\n${line(0, null)}\n${line(0, null)}\n`,
    "good.jsonl": `\ufeff${line(0, 1)}\n${line(0, null)}\n${line(0, 0.5)}\n${line(1, 1, "ben")}\n`,
  };
  const { run } = cliContext({ files, answer: () => "right" });
  await run("run", "b.json", "--threshold", "0");
  for (
    const [file, words] of [
      ["far.jsonl", "line 3: cannot import the grade of turn 9/1/0: the turn is not stored"],
      ["none.jsonl", "line 2: cannot withdraw the grade of turn 1/1/0: there is none"],
      ["twice.jsonl", "line 3: cannot withdraw the grade of turn 0/1/0: there is none"],
    ] as const
  ) {
    const { code, err } = await run("grades", "latest", "--import", file);
    assertEquals(code, 1);
    assertStringIncludes(err, `cannot import the grades: ${words}; no grade was imported\n`);
    assertEquals((await run("grades", "latest")).out, "no grades found\n");
  }
  const { code, err } = await run("grades", "latest", "--import", "good.jsonl");
  assertEquals([code, err], [0, "imported 4 grades\n"]);
  const { out } = await run("grades", "latest", "--json");
  assertEquals(out, `${line(0, 0.5)}\n${line(1, 1, "ben")}\n`);
  files["later.jsonl"] = `${line(1, null, "ben")}\n`;
  assertEquals((await run("grades", "latest", "--import", "later.jsonl")).code, 0);
  assertEquals((await run("grades", "latest", "--json")).out, `${line(0, 0.5)}\n`);
});

Deno.test("the command line imports, lists and compares grades", async () => {
  const line = (scenario: number, value: number, author: string) =>
    JSON.stringify({ scenario, attempt_id: 1, turn: 0, value, author });
  const files: Record<string, string> = {
    "b.json": JSON.stringify(body),
    "grades.jsonl": [0, 1, 2].flatMap((scenario) => [
      line(scenario, 0.2 * scenario, "ann"),
      line(scenario, 0.3 * scenario, "ben"),
    ]).join("\n") + "\n",
    "wrong.jsonl": `${line(0, 1, "ann")}\n${line(0, 7, "ann")}\n`,
    "list.jsonl": "[]\n",
    "text.jsonl": "a grade\n",
    "far.jsonl": line(9, 1, "ann"),
  };
  const { run } = cliContext({ files, answer: () => "right" });
  await run("run", "b.json", "--threshold", "0");
  assertEquals((await run("grades", "latest")).out, "no grades found\n");
  const imported = await run("grades", "latest", "--import", "grades.jsonl");
  assertEquals(imported.code, 0);
  assertStringIncludes(imported.err, "imported 6 grades");
  assertStringIncludes(imported.out, "0.600");
  const { out } = await run("grades", "latest", "--json");
  assertEquals(out, files["grades.jsonl"]);
  for (
    const [file, words] of [
      ["wrong.jsonl", "line 2: value: "],
      ["text.jsonl", "line 1: it is not JSON"],
      ["list.jsonl", "line 1: Invalid input: expected object"],
      ["far.jsonl", "cannot import the grade of turn 9/1/0: the turn is not stored"],
    ] as const
  ) {
    const { code, err } = await run("grades", "latest", "--import", file);
    assertEquals(code, 1);
    assertStringIncludes(err, words);
  }
  const { out: agreement } = await run("agreement", "latest");
  assertStringIncludes(agreement, "6 grades of 3 turns by 2 people");
  assertStringIncludes(agreement, "overall with people, over 3 turns");
  const { out: json } = await run("agreement", "latest", "--score", "token_f1", "--json");
  assertEquals(JSON.parse(json).judge.score, "token_f1");
});
