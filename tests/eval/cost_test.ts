import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { parse as parseCsv } from "csv-parse/sync";
import { isName } from "../../eval/score/words.ts";
import { EvalConfig } from "../../eval/config.ts";
import { costOf, findPrice, priceTarget } from "../../eval/ask/prices.ts";
import type { Target } from "../../eval/ask/target.ts";
import type { ScenarioResult } from "../../eval/test/evaluate_response.ts";
import { ConfigError, parseConfig } from "../../shared/service/config.ts";
import { cliContext } from "../fakes/cli_context.ts";
import { endpointTarget } from "../fakes/endpoint_target.ts";
import { fakeTarget, interaction, providerError, scenario } from "../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  wiredService,
} from "../fakes/eval_service.ts";
import { memoryStore } from "../fakes/memory_store.ts";
import { completion, completionBody, raw, startProviderDouble } from "../fakes/provider_double.ts";
import { fakeEmbedder, fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";
import { pairIn } from "../fakes/compare_two.ts";

const usd = { currency: "USD" };

Deno.test("a model has the price of its name, else of the longest pattern that fits", () => {
  const prices = {
    "*": { input: 1, output: 1, ...usd },
    "gpt-4o*": { input: 2, output: 2, ...usd },
    "gpt-4o-mini*": { input: 3, output: 3, ...usd },
    "gpt-4o-mini": { input: 4, output: 4, ...usd },
  };
  const { "*": _, ...few } = prices;
  assertEquals(findPrice(prices, "gpt-4o-mini")?.input, 4);
  assertEquals(findPrice(prices, "gpt-4o-mini-2026")?.input, 3);
  assertEquals(findPrice(prices, "gpt-4o")?.input, 2);
  assertEquals(findPrice(prices, "other")?.input, 1);
  assertEquals(findPrice(few, "other"), undefined);
  assertEquals(findPrice(few, "xgpt-4o"), undefined);
  assertEquals(findPrice(few, "constructor"), undefined);
});

Deno.test("a call costs its tokens, those from a cache less, and is unknown without a price", () => {
  const price = { input: 2, cached_input: 0.5, output: 10, ...usd };
  const tokens = { input: 1_000, cachedInput: 400, output: 100 };
  const cost = costOf(price, tokens)!;
  assertAlmostEquals(cost.amount, (600 * 2 + 400 * 0.5 + 100 * 10) / 1e6, 1e-15);
  assertEquals(cost.currency, "USD");
  assertAlmostEquals(costOf({ input: 2, output: 10, ...usd }, tokens)!.amount, 0.003, 1e-15);
  assertEquals(costOf(undefined, tokens), null);
  assertEquals(costOf(price, null), null);
  assertEquals(costOf(price, { input: 0, output: 0 }), null); // no tokens were reported
  assertEquals(costOf({ input: 0, output: 0, ...usd }, tokens), { amount: 0, currency: "USD" });
});

Deno.test("a bad price list stops the start and says what is wrong", () => {
  const parse = (PRICES: string) => {
    try {
      parseConfig(EvalConfig, { PRICES });
    } catch (error) {
      assert(error instanceof ConfigError);
      return error.message;
    }
  };
  assertStringIncludes(parse("cheap")!, "PRICES: must be a JSON object like");
  assertStringIncludes(parse('{"m": {"input": -1, "output": 1}}')!, "m.input");
  assertStringIncludes(parse('{"m": {"input": 1}}')!, "m.output");
  assertStringIncludes(parse('{"m": {"input": 1, "output": 1, "currency": "$"}}')!, "m.currency");
  assertEquals(parse('{"m": {"input": 1, "output": 1, "currency": "EUR"}}'), undefined);
});

const PRICES = JSON.stringify({
  "acme/*": { input: 1, cached_input: 0.1, output: 2 },
  "judge-1": { input: 10, output: 20, currency: "EUR" },
});

Deno.test("turns and runs have their costs, the judge's apart, in every export", async () => {
  await using endpoint = await startProviderDouble(({ body }) => {
    const { messages } = body as { messages: { content: string }[] };
    const isUnknown = messages.at(-1)!.content.includes("unknown");
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      prompt_tokens_details: { cached_tokens: 200 },
    };
    return Response.json(completionBody({ content: "Yes", usage: isUnknown ? null : usage }));
  });
  await using judge = await startProviderDouble(({ body }) => {
    const { messages } = body as { messages: { content: string }[] };
    const nonce = /"nonce": "(\w+)"/.exec(messages[0]!.content)![1];
    const content = JSON.stringify({ nonce, reason: "fine", grade: 10 });
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    return Response.json(completionBody({ content, usage }));
  });
  const { service } = wiredService({
    PRICES,
    JUDGE_BASE_URL: judge.baseUrl,
    JUDGE_MODEL: "judge-1",
  });
  const answer = await evaluateWith(
    service,
    evaluateBody({
      rubric: "Be fair.",
      judge_votes: 2,
      endpoint: endpoint.baseUrl,
      model_id: "acme/small",
      test_batch: [
        { id: "a", interactions: [{ id: "1", user_message: "Hi" }] },
        { id: "b", interactions: [{ id: "1", user_message: "unknown", cost: "mine" }] },
      ],
    }),
  );
  const [known, unknown] = answer.results.scenarios.map(({ attempts }) =>
    attempts[0]!.interactions[0]!
  );
  assertAlmostEquals(known!.cost!.amount, (800 * 1 + 200 * 0.1 + 500 * 2) / 1e6, 1e-15);
  assertEquals(unknown!.cost, null);
  assertAlmostEquals(known!.judge_cost!.amount, 2 * (100 * 10 + 10 * 20) / 1e6, 1e-15);
  assertEquals(known!.judge_cost!.currency, "EUR");
  const { cost, judge_cost } = answer.results;
  assertEquals([cost!.turns, cost!.unknown, cost!.currency], [1, 1, "USD"]);
  assertAlmostEquals(judge_cost!.amount!, 4 * 0.0012, 1e-15);

  const read = async (format: string) => {
    const path = `/runs/${answer.run_id}/export?format=${format}`;
    return await (await service(new Request(`http://127.0.0.1:8080${path}`))).text();
  };
  const [row, other] = parseCsv(await read("csv"), { columns: true }) as Record<string, string>[];
  assertEquals([row!.cost, row!.cost_currency], ["0.00182", "USD"]);
  assertEquals([other!.cost, other!.judge_cost_currency], ["", "EUR"]);
  assertStringIncludes(await read("junit"), '<property name="run_cost" value="0.00182 USD"/>');
  const markdown = await read("markdown");
  assertStringIncludes(markdown, "- Cost 0.00182 USD, and 1 turn of unknown cost\n");
  assertStringIncludes(markdown, "- Cost of the judge 0.0048 EUR\n");
  assertEquals(JSON.parse((await read("jsonl")).split("\n")[1]!).cost, null);
});

Deno.test("a retry's cost and tokens are what it paid itself, not what its parent had paid", async () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 };
  let calls = 0;
  const target: Target = {
    ask: () =>
      ++calls === 2 ? Promise.reject(providerError(500)) : Promise.resolve({ content: "a", usage }),
  };
  const price = { input: 2, output: 0, currency: "USD" };
  const { service, runs } = evalService(undefined, { target: priceTarget(target, price) });
  const send = async (path: string, method = "GET") =>
    await (await service(new Request(`http://127.0.0.1:8080${path}`, { method }))).json();
  const test_batch = ["a", "b", "c"].map((id) => ({
    id,
    interactions: [{ id: "1", user_message: "Hi" }],
  }));
  const first = await evaluateWith(service, evaluateBody({ test_batch }));
  assertEquals([first.results.cost!.amount, first.results.cost!.turns], [4, 2]);
  const { run_id } = await send(`/runs/${first.run_id}/retry`, "POST");
  await runs.active(run_id)?.ended;
  const { result: { results } } = await send(`/runs/${run_id}`);
  assertEquals([results.cost.amount, results.cost.turns, results.cost.unknown], [2, 1, 0]);
  const from = (results.scenarios as ScenarioResult[]).map(({ attempts }) =>
    attempts[0]!.interactions[0]!.copied_from_run
  );
  assertEquals(from, [first.run_id, undefined, first.run_id]);
  const summary = await send(`/runs/${run_id}/summary`);
  assertEquals([summary.usage.input_tokens, summary.cost.amount], [1_000_000, 2]);
  const { runs: [listed] } = await send("/runs?limit=1");
  assertEquals([listed.run_id, listed.headline.usage.input_tokens], [run_id, 1_000_000]);
  const csv = await service(
    new Request(`http://127.0.0.1:8080/runs/${run_id}/export?format=csv`),
  );
  const rows = parseCsv(await csv.text(), { columns: true, bom: true }) as Record<string, string>[];
  assertEquals(rows.map((row) => [row.cost, row.copied_from_run]), [
    ["2", first.run_id],
    ["2", ""],
    ["2", first.run_id],
  ]);
});

Deno.test("a retry that scores a reply again pays the judge, and not the endpoint", async () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 };
  const target: Target = { ask: () => Promise.resolve({ content: "a", usage }) };
  const { judge } = fakeJudge((_question, call) => {
    if (call === 1) throw new Error("the judge is away");
    return '{"reason": "fine", "grade": 10}';
  });
  const price = { input: 2, output: 0, currency: "USD" };
  const { service, runs } = evalService(undefined, {
    target: priceTarget(target, price),
    scoring: scoringPorts({ judge }),
  });
  const send = async (path: string, method = "GET") =>
    await (await service(new Request(`http://127.0.0.1:8080${path}`, { method }))).json();
  const retry = async (id: string) => {
    const { run_id } = await send(`/runs/${id}/retry`, "POST");
    await runs.active(run_id)?.ended;
    return await send(`/runs/${run_id}`);
  };
  const first = await evaluateWith(service, evaluateBody({ rubric: "Be fair." }));
  assertEquals(first.results.cost!.amount, 2);
  const { result: { results }, run_id } = await retry(first.run_id);
  const [turn] = (results.scenarios as ScenarioResult[])[0]!.attempts[0]!.interactions;
  assertEquals([turn!.reply_from_run, turn!.cost], [first.run_id, { amount: 2, currency: "USD" }]);
  assertEquals(results.cost, { amount: 0, currency: "USD", turns: 0, unknown: 0 });
  assertEquals((await send(`/runs/${run_id}/summary`)).usage.input_tokens, 0);
});

Deno.test("a model without a price has an unknown cost, never 0; the command line says so", async () => {
  const { target } = fakeTarget(() => "right");
  const files = {
    "b.json": JSON.stringify([{ id: "s", interactions: [{ id: "1", user_message: "Hi" }] }]),
  };
  const args = ["run", "b.json", "--endpoint", "http://127.0.0.1:9", "--model", "m"];
  const { out } = await cliContext({ files, target: priceTarget(target, undefined) }).run(...args);
  assertStringIncludes(out, "Cost unknown");
  const plain = await cliContext({ files, target }).run(...args);
  assertEquals(plain.out.includes("Cost"), false);
});

Deno.test("the costs of an earlier result that is sent in again are not those of the run", async () => {
  const { service } = evalService(() => "Yes");
  const earlier = { cost: { amount: 5, currency: "USD" }, judge_cost: null };
  const interactions = [earlier, { cost: "high" }].map((fields, id) => ({
    ...{ id: `${id}`, user_message: "?", reference_reply: "Yes" },
    ...fields,
  }));
  const body = evaluateBody({ test_batch: { id: "s", interactions } });
  const { results } = await evaluateWith(service, body);
  assertEquals([results.cost, results.judge_cost], [undefined, undefined]);
  const turns = results.scenarios[0]!.attempts[0]!.interactions as { cost?: unknown }[];
  assertEquals(turns.map(({ cost }) => cost), [undefined, "high"]);
});

const get = (path: string) => new Request(`http://127.0.0.1:8080${path}`);

/** An embeddings endpoint: it has vectors, and no layers that compare two texts. */
function vectorsAlone() {
  const { embedder: { compare: _, ...embedder } } = fakeEmbedder();
  return scoringPorts({ embedder });
}

/** Ten questions for the name of a city. */
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
  const { results, run_id } = await ask({}, { store, scoring: vectorsAlone() });
  assertEquals([results.pass_rate!.mean, results.average_scores.overall], [0, 0]);
  assert(results.average_scores.semantic_similarity !== null, "what was found is shown");
  const [missing] = results.missing_scores;
  assertEquals([missing!.score, missing!.turns], ["overall", 10]);
  assertMatch(missing!.reason, /single word or a name.*add a judge, a check or a label/);
  const { service } = evalService(undefined, { store });
  const read = async (path: string) => await (await service(get(path))).text();
  const markdown = await read(`/runs/${run_id}/export?format=markdown`);
  assertMatch(markdown, /0 pass.*10 with a missing score/);
  assertMatch(markdown, /Missing 10 × .*overall.*single word or a name/);
  assertMatch(markdown, /\| `overall` \| 0\.000 \| 0 \| 10 \|/);
  assertEquals(JSON.parse(await read(`/runs/${run_id}`)).progress.mean, null);
  const { outcomes, scenarios } = JSON.parse(await read(`/runs/${run_id}/summary`));
  assertEquals([outcomes.missing, scenarios.unscored, scenarios.passed], [10, 10, 0]);
});

Deno.test("a comparison of replies to names is not decided by similarity alone either", async () => {
  const store = memoryStore();
  const ids: string[] = [];
  for (const answer of ["Mülheim", "Es ist Köln."]) {
    ids.push((await ask({}, { store, scoring: vectorsAlone(), reply: () => answer })).run_id);
  }
  const { service } = evalService(undefined, { store });
  const compare = async (more = "") => {
    const query = `baseline=${ids[0]}&candidate=${ids[1]}${more}`;
    return pairIn(await (await service(get(`/compare?${query}`))).json());
  };
  const { verdict, scores } = await compare();
  assertEquals([verdict, scores.overall.difference], ["inconclusive", 0]);
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

const service = () => wiredService().service;

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (url: string) => ({ type: "image_url", image_url: { url, detail: "low" } });
const text = (text: string) => ({ type: "text", text });

Deno.test("images of a message go to the model, also in the history, and are marks in its text", async () => {
  await using model = await startProviderDouble(completion({ content: "a dot" }));
  const asked = [text("What is this?"), image(DOT)];
  const linked = [text("And this?"), image("https://images.example/cat.png")];
  const { results, run_id } = await evaluateWith(
    service(),
    evaluateBody({
      endpoint: model.baseUrl,
      test_batch: {
        id: "s",
        interactions: [{ id: "a", user_message: asked }, { id: "b", user_message: linked }],
      },
    }),
  );
  assertMatch(run_id, /./);
  const sent = model.requests.map(({ body }) => (body as { messages: unknown[] }).messages);
  assertEquals(sent, [
    [{ role: "user", content: asked }],
    [
      { role: "user", content: asked },
      { role: "assistant", content: "a dot" },
      { role: "user", content: linked },
    ],
  ]);
  const [first, second] = results.scenarios[0]!.attempts[0]!.interactions;
  assertMatch(first!.user_message, /^What is this\?\n\[image [0-9a-f]{8}\]$/);
  assertEquals(second!.user_message, "And this?\n[image: https://images.example/cat.png]");
  assertEquals<unknown>(first!.user_parts, asked);

  const again = await evaluateWith(
    service(),
    evaluateBody({ endpoint: model.baseUrl, test_batch: { id: "s", interactions: [first] } }),
  );
  const [resent] = again.results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals([resent!.user_message, resent!.user_parts], [
    first!.user_message,
    first!.user_parts,
  ]);
});

Deno.test("parts that are neither text nor an image, and texts that are not theirs, are refused", async () => {
  const refuse = async (turn: Record<string, unknown>) => {
    const body = evaluateBody({ test_batch: { id: "s", interactions: [{ id: "a", ...turn }] } });
    const { errors } = await (await service()(evaluateRequestOf(body))).json();
    return errors[0];
  };
  const at = "test_batch.interactions.0";
  const file = await refuse({ user_message: [image("file:///etc/passwd")] });
  assertEquals(file.path, `${at}.user_parts.0.image_url.url`);
  assertEquals((await refuse({ user_message: [] })).path, `${at}.user_parts`);
  assertStringIncludes((await refuse({ user_message: [{ type: "video" }] })).path, "user_parts.0");
  const other = await refuse({ user_message: "edited", user_parts: [text("What?"), image(DOT)] });
  assertEquals(other, { path: `${at}.user_message`, message: "must be the text of user_parts" });
});

/** JSON in Latin-1. */
function latin1(body: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...JSON.stringify(body)].map((character) => character.charCodeAt(0)));
}

const ANSWERS = { openai: completionBody({ content: "grün" }), agent: { content: "grün" } };

for (const protocol of ["openai", "agent"] as const) {
  Deno.test(`a reply of an ${protocol} endpoint that is not UTF-8 is marked in its turn`, async () => {
    await using double = await startProviderDouble([
      raw(latin1(ANSWERS[protocol]), { headers: { "content-type": "application/json" } }),
      raw(JSON.stringify(ANSWERS[protocol])),
    ]);
    const { service } = evalService(undefined, { target: endpointTarget(protocol, double) });
    const { results } = await evaluateWith(service, evaluateBody({ attempts: 2 }));
    const replies = results.scenarios[0]!.attempts.map(({ interactions }) => interactions[0]!)
      .map(({ agent_reply, reply_encoding }) => ({ agent_reply, reply_encoding }));
    assertEquals(
      new Set(replies),
      new Set([
        { agent_reply: "gr\uFFFDn", reply_encoding: "not utf-8" },
        { agent_reply: "grün", reply_encoding: undefined },
      ]),
    );
  });
}
