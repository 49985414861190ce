import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type CheckWork, createContentChecks } from "../../../../eval/score/content_checks.ts";
import { isRefusal } from "../../../../eval/score/checks/measures.ts";
import { Check } from "../../../../eval/test/check_kinds.ts";
import { listOf, negated, oneLineOf } from "../../../../eval/test/decision.ts";
import {
  COMPUTE_ONLY,
  type WorkerEvent,
  type WorkerRequest,
  type WorkerResponse,
} from "../../../../shared/service/worker_call.ts";
import { CASES, type CheckCase } from "./cases.ts";
import { toAssertion } from "./promptfoo.ts";
import recorded from "./promptfoo_verdicts.json" with { type: "json" };

// One worker for all steps: starting it takes longer than they do.
Deno.test("checks of a text", async (t) => {
  using checks = createContentChecks();
  const run = checks.forRun();
  await t.step("every case of the table has the expected verdict", async () => {
    const wrong: unknown[] = [];
    for (const [input, reply, expected] of CASES) {
      const check = Check.parse(input);
      assert(check.type !== "judge" && check.type !== "similar");
      const decision = await run.decide({ check, text: reply });
      const found = check.negate ? negated(decision) : decision;
      if (found.value !== expected) wrong.push({ input, reply, found });
      if (found.value !== 1) assert(found.reason, `no reason: ${JSON.stringify(input)}`);
    }
    assertEquals(wrong, []);
    assert(CASES.length >= 150, `${CASES.length} cases`);
  });

  await t.step("patterns and schemas that cannot be used say what is wrong with them", async () => {
    const faults = await checks.inspect([
      { type: "regex", value: "(" },
      { type: "regex", value: "(?=lookahead)" },
      { type: "regex", value: "((a{30}){30}){30}" },
      { type: "regex", value: "fine" },
      { type: "json", value: { type: "strin" } },
      { type: "json", value: { $ref: "https://example.com/elsewhere" } },
      { type: "json", value: { pattern: "(a" } },
      { type: "json", value: { $id: "https://example.com/a", type: "string" } },
      { type: "json", value: { $id: "https://example.com/a", type: "number" } },
      { type: "json" },
    ]);
    assertEquals(faults.map((fault) => fault === null), [
      ...[false, false, false, true],
      ...[false, false, false, true, true, true],
    ]);
    assertStringIncludes(faults[4]!, "type");
  });

  await t.step("a schema may refer to itself, in every draft", async () => {
    for (const draft of ["draft-07", "draft/2019-09", "draft/2020-12"]) {
      const value = {
        $schema: `https://json-schema.org/${draft}/schema`,
        type: "object",
        properties: { next: { $ref: "#" } },
      };
      const check = { type: "json" as const, value };
      assertEquals(await checks.inspect([check]), [null]);
      assertEquals((await run.decide({ check, text: '{"next": {"next": {}}}' })).value, 1);
      assertEquals((await run.decide({ check, text: '{"next": {"next": 1}}' })).value, 0);
    }
  });

  await t.step("a schema that is applied 2⁴⁰ times, or without end, is refused", async () => {
    const schemas = [schemaOfWays(40), { $ref: "#" }];
    const [often, always] = await checks.inspect(schemas.map((value) => ({ type: "json", value })));
    assertStringIncludes(often!, "over 100,000 times");
    assertStringIncludes(always!, "refers to itself");
  });

  await t.step(
    "a schema that only some replies make explode is not decided for these",
    async () => {
      const { $ref, definitions } = schemaOfWays(40);
      const check = { type: "json" as const, value: { definitions, properties: { a: { $ref } } } };
      assertEquals(await checks.inspect([check]), [null]);
      const decided = await run.decide({ check, text: '{"a": 1}' });
      assertEquals(decided.value, null);
      assertStringIncludes(decided.reason!, "over 100,000 times");
      assertEquals((await run.decide({ check, text: '{"b": 1}' })).value, 1);
    },
  );

  await t.step(
    "a schema is read by the draft that it names, or whose keywords it has",
    async () => {
      const tuple = [{ type: "number" }];
      const schemas = [
        { $schema: "https://json-schema.org/draft/2019-09/schema", items: tuple },
        { $schema: "http://json-schema.org/draft-06/schema#", items: tuple },
        { $schema: "http://json-schema.org/draft-04/schema#", items: tuple },
        { $schema: "https://json-schema.org/draft-07/schema", items: tuple },
        { prefixItems: tuple },
        { contains: { type: "string" }, minContains: 2 },
        { items: { unevaluatedProperties: false, type: "number" } },
      ];
      const inputs = schemas.map((value) => ({ type: "json" as const, value }));
      assertEquals(await checks.inspect(inputs), inputs.map(() => null));
      const found = await run.decideAll(inputs.map((check) => ({ check, text: '["a"]' })));
      assertEquals(found.map(({ value }) => value), inputs.map(() => 0 as const));
    },
  );

  await t.step("the language of a reply is that of its words, not of its code", async () => {
    const sql = "```sql\nSELECT name, email FROM customers WHERE city = 'Rome' ORDER BY name;\n```";
    const cases: [language: "de" | "fr" | "en", reply: string, expected: 0 | 1][] = [
      ["de", `${sql}\nDiese Abfrage liefert die Kunden.`, 1],
      ["en", `${sql}\nDiese Abfrage liefert die Kunden.`, 0],
      ["fr", "Voici le code :\n\n~~~\ndef add(a, b):\n    return a + b", 1],
      ["de", "Der Befehl `git checkout --ours the-file` hilft hier weiter.", 1],
      ["de", "Mehr dazu: https://example.com/the-help/about-your-orders-and-returns", 1],
      ["de", sql, 0],
    ];
    const inputs = cases.map(([value, text]) => ({
      check: { type: "language" as const, value },
      text,
    }));
    const found = await run.decideAll(inputs);
    assertEquals(found.map(({ value }) => value), cases.map(([, , expected]) => expected));
  });

  await t.step("the ids of one caller's schemas do not matter to those of others", async () => {
    const draft7 = "http://json-schema.org/draft-07/schema#";
    const draft2020 = "https://json-schema.org/draft/2020-12/schema";
    const nested = { $id: "https://example.com/part", type: "string" };
    const schemas = [
      { $id: draft7, type: "object" },
      { $id: draft7, type: "array" },
      { $id: draft2020, $schema: draft2020, type: "object" },
      { $schema: draft2020, type: "array" },
      { $id: "https://example.com/whole", definitions: { part: nested }, type: "object" },
      { ...nested, type: "object" },
      { type: "object", required: [] },
    ];
    const inspected = await checks.inspect(schemas.map((value) => ({ type: "json", value })));
    assertEquals(inspected, schemas.map(() => null));
    for (const { type } of schemas) {
      const check = { type: "json" as const, value: { type, minItems: 0, $ref: draft7 } };
      assertEquals(
        (await run.decide({ check, text: '{"minimum": 1}' })).value,
        type === "object" ? 1 : 0,
      );
    }
  });

  await t.step("many texts are decided in their order, long ones too", async () => {
    const check = { type: "regex" as const, value: "^x" };
    const texts = Array.from({ length: 250 }, (_, index) => index % 3 === 0 ? `x${index}` : "a");
    texts[7] = "x".repeat(150_000);
    texts[8] = "a".repeat(200_001);
    const found = await run.decideAll(texts.map((text) => ({ check, text })));
    assertEquals(
      found.map(({ value }) => value),
      texts.map((text) => text.startsWith("x") ? 1 : 0),
    );
  });

  await t.step("a reply too long for a pattern does not meet it", async () => {
    const { value, reason } = await run.decide({
      check: { type: "regex", value: "x" },
      text: "a".repeat(200_001),
    });
    assertEquals(value, 0);
    assertStringIncludes(reason!, "200,000 characters");
  });
});

const WORKER = new URL("../../../../eval/score/check_worker.ts", import.meta.url);

/** A schema that no number fits, which only the last of 2^levels alternatives shows. */
function schemaOfWays(levels: number) {
  const definitions: Record<string, unknown> = { [`d${levels}`]: { type: "string" } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/definitions/d${level + 1}` };
    definitions[`d${level}`] = { anyOf: [next, next] };
  }
  return { definitions, $ref: "#/definitions/d0" };
}

/** Ajv compares each item with each other one. */
const LONG_CHECK = { type: "json", value: { uniqueItems: true } } as const;
const LONG_REPLY = `[${Array.from({ length: 20_000 }, (_, index) => `[${index}]`)}]`;

Deno.test("a check that took too long is not tried again in its run", async () => {
  const events: WorkerEvent[] = [];
  using checks = createContentChecks({ onEvent: (event) => events.push(event) });
  const [run, other] = [checks.forRun(), checks.forRun()];
  const checked = { check: LONG_CHECK, text: LONG_REPLY };
  const first = await run.decide(checked);
  assertStringIncludes(first.reason!, "took longer than 5 s");
  assertEquals(await run.decide({ ...checked, text: "[1, 2]" }), first);
  assertEquals((await other.decide({ ...checked, text: "[1, 2]" })).value, 1);
  assertEquals(events.filter(({ kind }) => kind === "died").length, 1);
});

Deno.test("a check that takes too long is stopped, and the thread does the next work", async () => {
  const worker = new Worker(WORKER, COMPUTE_ONLY);
  const answered = Promise.withResolvers<WorkerResponse<unknown>>();
  worker.onmessage = ({ data }) => answered.resolve(data);
  const order = (request: WorkerRequest<CheckWork>) => worker.postMessage(request);
  order({ id: 1, input: { decide: [{ check: LONG_CHECK, text: LONG_REPLY }] }, limitMs: 100 });
  order({ id: 2, input: { inspect: [] }, limitMs: 60_000 });
  assertEquals(await answered.promise, { id: 2, output: [] });
  worker.terminate();
});

/** The verdicts of promptfoo 0.123 on the replies of `cases.ts`. */
const theirs = new Map(
  recorded.map(({ check, reply, pass }) => [JSON.stringify([check, reply]), pass]),
);

/** Differences on purpose. */
const ON_PURPOSE: Record<string, (check: CheckCase[0], reply: string) => boolean> = {
  "é as one character or as two is the same letter": (_check, reply) =>
    reply !== reply.normalize("NFC"),
  "ß and SS are the same without case": ({ type, ...check }, reply) =>
    type === "contains" && "ignore_case" in check && /ß|SS/.test(`${check.value}${reply}`),
  "RE2 has inline flags and Unicode classes": (check) =>
    check.type === "regex" && /^\(\?[ims]|\\p\{/.test(check.value),
  "JSON Schema of 2019 and 2020 is known": (check) =>
    check.type === "json" && JSON.stringify(check.value ?? {}).includes("2020-12"),
  "signs between blanks are no words": (check, reply) =>
    check.type === "max_words" && / – /.test(reply),
  "Chinese and Japanese are cut into words": (check, reply) =>
    check.type === "max_words" && /\p{Script=Han}/u.test(reply),
  "refusals are found in other languages, and in more forms": ({ type, negate }, reply) =>
    type === "refusal" && !negate && !/^(?:Sorry for|$)/.test(reply),
  "an apology or an empty reply is no refusal": ({ type }, reply) =>
    type === "refusal" && /^(?:Sorry for|$)/.test(reply),
};

Deno.test("checks decide as promptfoo's assertions do, but for the differences on purpose", () => {
  const different = CASES.filter(([check, reply, value]) => {
    const pass = theirs.get(JSON.stringify([check, reply]));
    return pass !== undefined && pass !== (value === 1);
  });
  const unexplained = different.filter(([check, reply]) =>
    !Object.values(ON_PURPOSE).some((isMeant) => isMeant(check, reply))
  );
  assertEquals(unexplained, []);
  for (const [reason, isMeant] of Object.entries(ON_PURPOSE)) {
    assert(different.some(([check, reply]) => isMeant(check, reply)), `not needed: ${reason}`);
  }
});

Deno.test("every case that promptfoo has an assertion for was decided by it", () => {
  const missing = CASES.filter(([check, reply]) =>
    toAssertion(check) && reply.length <= 1_000 && !theirs.has(JSON.stringify([check, reply]))
  );
  assertEquals(missing, []);
});

const REPLIES: [reply: string, isRefusal: boolean][] = [
  ["I'm sorry, but I can't help with that.", true],
  ["I won't write that.", true],
  ["Sorry, can't do that.", true],
  ["Unable to comply with this request.", true],
  ["I don't have the ability to open websites.", true],
  ["I'd rather not answer that.", true],
  ["I'm not going to help with this.", true],
  ["My guidelines do not allow that.", true],
  ["申し訳ありませんが、その質問にはお答えできません。", true],
  ["恐れ入りますが、そちらは対応いたしかねます。", true],
  ["非常抱歉我无法回答这个问题。", true],
  ["抱歉，我无法提供帮助。", true],
  ["죄송하지만 도와드릴 수 없습니다.", true],
  ["Je ne peux pas vous aider.", true],
  ["Mi dispiace, ma non posso aiutarti.", true],
  ["Non mi è consentito fornire queste informazioni.", true],
  ["Infelizmente não sou capaz de fazer isso.", true],
  ["Lamentablemente, no soy capaz de hacerlo.", true],
  ["Sorry, daar kan ik je niet bij helpen.", true],
  ["Helaas kan ik deze vraag niet beantwoorden.", true],
  ["**Helaas** kan ik deze vraag niet beantwoorden.", true],
  ["Om die reden (privacy) kan ik u niet helpen.", true],
  ["Let op: kan ik u niet helpen, bel dan 0900.", false],
  ["Ik ben niet in staat om dat te doen.", true],
  ["Nie wolno mi udzielać takich informacji.", true],
  ["Tyvärr kan jag inte hjälpa till med det.", true],
  ["Jag har inte möjlighet att göra det.", true],
  ["Bu soruya cevap veremem.", true],
  ["对不起，这个请求我帮不了您。", true],
  ["Daar kan ik u niet genoeg voor bedanken.", false],
  ["Tyvärr kan du inte parkera här.", false],
  ["Hier kan ik u mee helpen. U heeft nog geen antwoord.", false],
  ["Mag ik vragen waarom u nog geen antwoord gaf?", false],
  ["Kan ik u niet helpen? Bel dan 0900.", false],
  ["Kan jag inte svara direkt ringer jag upp.", false],
  ["Tu nie wolno mieszać leków.", false],
  ["We will not help you with that request.", true],
  ["I cannot find any way to help you with that.", true],
  ["If you are unable to provide a receipt, contact us.", false],
  ["The bank was unable to process your payment; try again.", false],
  ["Our policy does not allow returns after 30 days.", false],
  ["We won't share your data with anyone.", false],
  ["We will not charge you for the repair.", false],
  ["If I can't reach you by phone, I will write.", false],
  ["I can't believe it is Friday already! We meet at 3.", false],
  ["I can't see any problem with your order; it ships today.", false],
  ["I am not able to find your order: please send its number.", false],
  ["请告诉我您无法登录的原因。", false],
  ["您无法退货，但可以换货。", false],
  ["Je ne peux que vous recommander ce livre.", false],
  ["No puedo creer lo bien que quedó. La receta es esta.", false],
  ["Non posso che consigliarti questo libro.", false],
  ["Nie możemy się doczekać spotkania.", false],
];

for (const [reply, expected] of REPLIES) {
  Deno.test(`${expected ? "a refusal" : "no refusal"}: ${reply}`, () => {
    assertEquals(isRefusal(reply), expected);
  });
}

Deno.test("the first three of some values are shown, and how many more there are", () => {
  assertEquals(listOf(["a"]), '"a"');
  assertEquals(listOf(["a", "b", "c"]), '"a", "b", "c"');
  assertEquals(listOf(["a", "b", "c", "d"], " or "), '"a" or "b" or "c" and 1 more');
});

Deno.test("a value is quoted, short and on one line", () => {
  assertEquals(oneLineOf('a "b"\nc'), '"a \\"b\\"\\nc"');
  assertEquals(oneLineOf("x".repeat(60)).length, 62);
  assertEquals(oneLineOf("x".repeat(61)).endsWith('…"'), true);
});
