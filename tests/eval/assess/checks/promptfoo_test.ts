import { assert, assertEquals } from "@std/assert";
import { CASES, type CheckCase } from "./cases.ts";
import { toAssertion } from "./promptfoo.ts";
import recorded from "./promptfoo_verdicts.json" with { type: "json" };

/** What `deno task bench promptfoo-verdicts` wrote. */
const theirs = new Map(
  recorded.map(({ check, reply, pass }) => [JSON.stringify([check, reply]), pass]),
);

/** Differences on purpose; docs/scores-and-statistics.md lists them. */
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
