import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse, type TestSuites } from "junit2json";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { cliContext } from "../fakes/cli_context.ts";
import { scoringPorts } from "../fakes/scoring_ports.ts";
import { SHOP, SHOP_REPLIES } from "../fakes/shop.ts";

/** What the hasty model gets wrong, and why each of these replies does not pass. */
const WRONG: Record<string, RegExp> = {
  "case-number": /check not met: names the case \(it does not contain "K-4711"\)/,
  dimmable: /contradicts the reference/,
  "opened-box": /contradicts the reference/,
  "return-window": /wrong value: 60 days instead of 30 days/,
  "express-cost": /wrong value: 19\.90 euros instead of 9\.90 euros/,
  opening: /wrong value: .*8 pm instead of .*6 pm/,
};

Deno.test("of 40 conversations every right reply passes, and the worst are wrong with their true reasons", async () => {
  using embedder = createLocalEmbedder();
  let model = "careful";
  const { run, files } = cliContext({
    files: { "shop.jsonl": SHOP },
    answer: (messages) => SHOP_REPLIES[model]![messages.at(-1)!.content]!,
    scoring: scoringPorts({ embedder }),
  });
  const ask = async (...options: string[]) => {
    const at = ["--endpoint", "http://model.example/v1", "--model", "m"];
    return await run("run", "shop.jsonl", ...at, ...options);
  };
  const careful = await ask();
  assertEquals(careful.code, 0, careful.out);
  assertStringIncludes(careful.out, "Evaluation shop: 40 of 40 scenarios pass\n");
  assertMatch(careful.out, /Label intent counts at \d+ of 40 turns/);

  model = "hasty";
  const outputs = ["--output", "r.xml", "--output", "r.html"];
  const hasty = await ask("--baseline", "latest", ...outputs);
  assertEquals(hasty.code, 100);
  assertStringIncludes(hasty.out, "Evaluation shop: 34 of 40 scenarios pass\n");
  assertMatch(hasty.out, /: overall regressed \(-0\.\d+, 95 % -0\.\d+ … -0\.\d+\)\n/);
  assertMatch(hasty.out, /gate not met: 6 of 40 turns do not pass; regressed in overall; 6 new/);

  const [, worst] = hasty.out.split(/Lowest replies\n|Compared with/) as [string, string];
  const told = worst.split(/\n {2}(?=\S)/).slice(1);
  assertEquals(told.length, 5);
  for (const reply of told) {
    const [, id] = /^([\w-]+): overall/.exec(reply)!;
    assertMatch(reply, WRONG[id!]!, `${id} is right, or its reason is not the true one`);
  }

  const suites = await parse(files["r.xml"]!) as TestSuites;
  const failures = suites.testsuite!.flatMap(({ name, testcase = [] }) =>
    testcase.flatMap(({ failure = [] }) => failure.map(({ message = "" }) => ({ name, message })))
  ).filter(({ name }) => !name!.startsWith("compared"));
  assertEquals(failures.map(({ name }) => name).toSorted(), Object.keys(WRONG).toSorted());
  for (const { name, message } of failures) assertMatch(message, WRONG[name!]!);

  const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s
    .exec(files["r.html"]!)!;
  const { turns } = JSON.parse(data!).runs[1] as {
    turns: { scenario_id: string; outcome: string; why?: string[] }[];
  };
  for (const { scenario_id, outcome, why = [] } of turns) {
    assertEquals(outcome, scenario_id in WRONG ? "below" : "passed", scenario_id);
    assert(WRONG[scenario_id]?.test(why.join("; ")) ?? why.length === 0, why.join("; "));
  }
});
