import { assert, assertEquals, assertMatch } from "@std/assert";
import { isName } from "../../eval/assess/text/names.ts";
import { interaction, scenario } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { memoryStore } from "../fakes/memory_store.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

const get = (path: string) => new Request(`http://127.0.0.1:8080${path}`);

/** Ten questions for the name of a city, in German: only English has layers that compare texts. */
const batch = (fields: Parameters<typeof interaction>[1] = {}) =>
  Array.from({ length: 10 }, (_, index) =>
    scenario(`s${index}`, [
      interaction("t", { user_message: `Frage ${index}`, reference_reply: "Köln", ...fields }),
    ]));

/** Every second reply is another city, the others say the name in a sentence. */
const cities = (text: string) => Number(/\d+/.exec(text)![0]) % 2 ? "Mülheim" : "Es ist Köln.";

async function ask(
  fields: Parameters<typeof interaction>[1] = {},
  options: Parameters<typeof evalService>[1] & { reply?: (text: string) => string } = {},
) {
  const { reply = cities, ...more } = options;
  const { service } = evalService((conversation) => reply(conversation.at(-1)!.content), more);
  return await evaluateWith(service, evaluateBody({ test_batch: batch(fields) }));
}

Deno.test("similarity to a name alone makes no pass rate, and the run says what is missing", async () => {
  const store = memoryStore();
  const { results, run_id } = await ask({}, { store });
  assertEquals([results.pass_rate!.mean, results.pass_rate!.bounds], [null, [0, 1]]);
  assertEquals([results.pass_rate_missing, results.average_scores.overall], [10, null]);
  assert(results.average_scores.semantic_similarity !== null, "what was found is shown");
  const [missing] = results.missing_scores;
  assertEquals([missing!.score, missing!.turns], ["overall", 10]);
  assertMatch(missing!.reason, /single word or a name.*add a judge, a check or a label/);
  const { service } = evalService(undefined, { store });
  const read = async (path: string) => await (await service(get(path))).text();
  const markdown = await read(`/runs/${run_id}/export?format=markdown`);
  assertMatch(markdown, /0 passed.*10 with a missing score/);
  assertMatch(markdown, /Missing 10 × .*overall.*single word or a name/);
  assertMatch(markdown, /\| `overall` \| no score \|/);
  assertEquals(JSON.parse(await read(`/runs/${run_id}`)).progress.mean, null);
  const { outcomes, scenarios } = JSON.parse(await read(`/runs/${run_id}/summary`));
  assertEquals([outcomes.missing, scenarios.missing, scenarios.passed], [10, 10, 0]);
});

Deno.test("a comparison of replies to names is not decided by similarity alone either", async () => {
  const store = memoryStore();
  const ids = [(await ask({}, { store, reply: () => "Mülheim" })).run_id];
  ids.push((await ask({}, { store, reply: () => "Es ist Köln." })).run_id);
  const { service } = evalService(undefined, { store });
  const compare = async (more = "") => {
    const query = `baseline=${ids[0]}&candidate=${ids[1]}${more}`;
    return await (await service(get(`/runs/compare?${query}`))).json();
  };
  const { verdict, scores } = await compare();
  assertEquals([verdict, scores.overall?.difference ?? null], ["inconclusive", null]);
  assertEquals((await compare("&decide_by=semantic_similarity")).verdict, "improved");
});

Deno.test("another signal decides about a name: its own text, a check or a judge", async () => {
  const rate = async (...given: Parameters<typeof ask>) =>
    (await ask(...given)).results.pass_rate!.mean;
  assertEquals(await rate({}, { reply: () => "**Köln**." }), 1);
  assertEquals(typeof await rate({ checks: [{ type: "contains", value: "Köln" }] }), "number");
  const { judge } = fakeJudge(({ messages }) => {
    const isRight = messages[1]!.content.includes("Es ist");
    return JSON.stringify({ reason: "r", grade: isRight ? 10 : 0 });
  });
  assertEquals(typeof await rate({}, { scoring: scoringPorts({ judge }) }), "number");
});

Deno.test("single words and names are told from sentences", () => {
  for (
    const name of [
      "oxygen",
      "Köln",
      "der Rhein",
      "Leonardo da Vinci",
      "東京",
      "Москва",
      "Apollo 11",
    ]
  ) assert(isName(name), name);
  for (
    const sentence of [
      "Das ist gut",
      "Der Himmel ist blau.",
      "Ja, gerne",
      "東京は日本の首都です",
      "Это Москва.",
    ]
  ) assert(!isName(sentence), sentence);
});
