import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createLocalEmbedder } from "../../../../eval/score/local_encoder.ts";
import { findLeaks } from "../../../../eval/figures/leaks/find_leaks.ts";
import { cliContext } from "../../../fakes/cli_context.ts";
import { callRoute, evalService } from "../../../fakes/eval_service.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { scoringPorts } from "../../../fakes/scoring_ports.ts";
import { SHOP, SHOP_REPLIES, SHOP_SCENARIOS } from "../../../fakes/shop.ts";

const AT = ["--endpoint", "http://model.example/v1", "--model", "hasty"];

Deno.test("three corrected failures of a run are a dpo file, and the leak check of it finds exactly these", async () => {
  using embedder = createLocalEmbedder();
  const corrections: Record<string, string> = {
    "return-window": "You can return it within 30 days of delivery.",
    "express-cost": "Express delivery costs 9.90 euros.",
    "opened-box": "Yes, you can return it even if the box is open.",
  };
  const grades = Object.entries(corrections).map(([id, corrected_reply]) => ({
    scenario: SHOP_SCENARIOS.findIndex((one) => one.id === id),
    attempt_id: 1,
    turn: 0,
    value: 0,
    corrected_reply,
  }));
  const { run, files } = cliContext({
    files: {
      "shop.jsonl": SHOP,
      "grades.jsonl": grades.map((grade) => JSON.stringify(grade)).join("\n"),
    },
    answer: (messages) => SHOP_REPLIES.hasty![messages.at(-1)!.content]!,
    scoring: scoringPorts({ embedder }),
  });
  await run("datasets", "put", "shop", "shop.jsonl");
  await run("run", "--dataset", "shop", ...AT);
  await run("grades", "latest", "--import", "grades.jsonl");
  const exported = await run("export", "latest", "--format", "dpo", "-o", "train.jsonl");
  assertEquals(exported.err, "3 rows\n");
  assertEquals(files["train.jsonl"]!.trim().split("\n").length, 3);

  const checked = await run("leaks", "train.jsonl", "--dataset", "shop", "--json");
  assertEquals(checked.code, 0, checked.err);
  const { scenarios, word_for_word, near } = JSON.parse(checked.out);
  const found = scenarios.filter(({ verdict }: { verdict: string }) => verdict !== "none");
  assertEquals(
    found.map(({ scenario_id }: { scenario_id: string }) => scenario_id).toSorted(),
    Object.keys(corrections).toSorted(),
  );
  assertEquals([word_for_word, near], [3, 0]);

  const failed = await run("leaks", "train.jsonl", "--dataset", "shop", "--fail-on-leaks");
  assertEquals(failed.code, 100);
  assertStringIncludes(failed.out, "of 40 scenarios 3 word for word, 0 near\n");
  assertMatch(
    failed.out,
    /\nexpress-cost: word for word, row \d\n {2}test: {5}What does express.*\n {2}training: What/,
  );

  const shown = await run("show", "latest");
  assertMatch(shown.out, /Over 37 clean scenarios: overall 0\.\d+\n/);
  assertMatch(shown.out, /Over 3 leaked scenarios: overall 0\.\d+\n/);
  assertMatch(shown.out, /Checked against train\.jsonl \(3 rows\) on \d{4}-\d\d-\d\d: 3 word for/);
  const { results } = JSON.parse((await run("export", "latest")).out);
  assertEquals([results.leaks.clean.scenarios, results.leaks.leaked.scenarios], [37, 3]);
  assert(results.leaks.clean.mean > results.leaks.leaked.mean);
  assertStringIncludes((await run("export", "latest", "--format", "markdown")).out, "### Leaks");

  const free = await run("leaks", "shop.jsonl", "--dataset", "shop", "--fail-on-leaks");
  assertStringIncludes(free.out, "of 40 scenarios 40 word for word, 0 near\n");
});

/** What is found of one question in some texts. */
async function verdictOf(question: string, texts: string[], embedder = scoringPorts().embedder) {
  async function* rows() {
    for (const [index, text] of texts.entries()) yield { row: index + 1, text };
  }
  const tests = [scenario("s", [interaction("t", { user_message: question })])];
  const signal = new AbortController().signal;
  const [found] = await findLeaks(tests, rows(), { embedder, signal });
  return { verdict: found!.verdict, row: found!.match?.row };
}

Deno.test("a copy is found in other letters, in a longer text and in its own sentence; a common beginning is none", async () => {
  const question = "Can I return a lamp without its box?";
  const long =
    "My neighbour who collects stamps asked me whether the blue vase from his aunt arrived";
  const others = ["The weather is fine today.", "Cats like to sleep in the sun."];
  const cases: [question: string, text: string, verdict: string][] = [
    [question, question, "word_for_word"],
    [question, "CAN I RETURN A LAMP\nwithout its box", "word_for_word"],
    [question, `Hi there. ${question} Many thanks, Ben.`, "word_for_word"],
    [long, `Last week ${long} and then he left again for the sea`, "word_for_word"],
    [long, "My neighbour who collects stamps asked me whether it rains in the blue hills", "none"],
    ["How can I pay?", "How can I pay with two cards at once in your shop in Leipzig?", "none"],
    ["Hello!", "Hello!", "none"], // too short to say anything
  ];
  for (const [question, text, verdict] of cases) {
    const found = await verdictOf(question, [...others, text]);
    assertEquals(found.verdict, verdict, `${question} / ${text}`);
    if (verdict !== "none") assertEquals(found.row, 3);
  }
});

Deno.test("what many rows share is no leak, and does not hide one", async () => {
  const prompt =
    "You answer questions of customers of a shop for garden tools and lamps. Be brief: ";
  const rows = Array.from(
    { length: 60 },
    (_, index) => `${prompt}Where is parcel ${index}${index}?`,
  );
  assertEquals((await verdictOf(`${prompt}Do you sell green paint?`, rows)).verdict, "none");
  const copied = await verdictOf(`${prompt}Do you sell green paint?`, [
    ...rows,
    "Do you sell green paint?",
  ]);
  assertEquals(copied, { verdict: "word_for_word", row: 61 });
});

Deno.test("a question in other words is near, another question of the same field is not", async () => {
  using embedder = createLocalEmbedder();
  const others = ["How can I pay?", "Do you ship to Norway?", "Is the yearly plan cheaper?"];
  const near = await verdictOf("How long can I return a lamp that I bought?", [
    ...others,
    "For how long am I able to return a lamp I have bought?",
  ], embedder);
  assertEquals(near, { verdict: "near", row: 4 });
  const other = await verdictOf("What does standard delivery cost?", [
    ...others,
    "What does express delivery cost?",
  ], embedder);
  assertEquals(other.verdict, "none");
});

Deno.test("a later turn and a long reference are looked for, and system messages are not", async () => {
  const { run } = cliContext({
    files: {
      "d.jsonl": JSON.stringify({
        id: "s",
        interactions: [
          { id: "1", user_message: "Good evening to all of you" },
          { id: "2", user_message: "The carrier lost my parcel in Leipzig" },
        ],
      }),
      "a.jsonl": `{"messages":[{"role":"system","content":"Good evening to all of you"}]}`,
      "b.jsonl":
        `{"conversations":[{"from":"human","value":"The carrier lost my parcel in Leipzig"}]}`,
    },
  });
  await run("datasets", "put", "d", "d.jsonl");
  assertStringIncludes((await run("leaks", "a.jsonl", "--dataset", "d")).out, "0 word for word");
  const { out } = await run("leaks", "b.jsonl", "--dataset", "d", "--json");
  const [found] = JSON.parse(out).scenarios;
  assertEquals([found.verdict, found.turn], ["word_for_word", 1]);
});

Deno.test("a check of a file over HTTP is remembered until the dataset is deleted", async () => {
  const { service } = evalService();
  const send = (method: string, path: string, body: string) =>
    service(
      new Request(`http://127.0.0.1:8080${path}`, {
        method,
        headers: { "content-type": "application/jsonl" },
        body,
      }),
    );
  const question = "Can I return a lamp without its box?";
  const test = { id: "s", interactions: [{ id: "1", user_message: question }] };
  await send("PUT", "/datasets/shop", JSON.stringify(test));
  const row = `${JSON.stringify({ prompt: question, completion: "No." })}\n`;
  const report = await send("POST", "/datasets/shop/leaks?file=t.jsonl", row + row);
  assertEquals(report.status, 200);
  const { scenarios, ...check } = await report.json();
  assertEquals([check.rows, check.word_for_word, check.file], [2, 1, "t.jsonl"]);
  assertEquals(scenarios[0].match.text, question);
  await send("POST", "/datasets/shop/leaks?file=again.jsonl", row + row);
  const { checks } = await (await callRoute(service, "GET /datasets/shop/leaks")).json();
  assertEquals(checks.map(({ file }: { file: string }) => file), ["again.jsonl"]);

  await callRoute(service, "DELETE /datasets/shop");
  await send("PUT", "/datasets/shop", JSON.stringify(test));
  const later = await (await callRoute(service, "GET /datasets/shop/leaks")).json();
  assertEquals(later, { checks: [] });
  assertEquals((await send("POST", "/datasets/none/leaks", row)).status, 404);
  for (const [body, path] of [["{", "line 1"], [`${row}5\n`, "line 2"]] as const) {
    const refused = await send("POST", "/datasets/shop/leaks", body);
    assertEquals(refused.status, 400);
    assertEquals((await refused.json()).errors[0].path, path);
  }
  assertEquals((await send("POST", "/datasets/shop/leaks", " ")).status, 400);
});

Deno.test("a leak check without a dataset or a file says what is missing", async () => {
  const { run } = cliContext({ files: { "t.jsonl": "{}" } });
  const cases: [args: string[], message: string][] = [
    [[], "FILE is missing"],
    [["t.jsonl"], "--dataset is missing"],
    [["t.jsonl", "--dataset", "none"], 'cannot find dataset "none"'],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await run("leaks", ...args);
    assertEquals(code, 1);
    assertStringIncludes(err, message);
  }
});
