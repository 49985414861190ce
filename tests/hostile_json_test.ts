import { assert, assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "./fakes/agent_service.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "./fakes/eval_service.ts";
import { createScriptedProvider } from "./fakes/scripted_provider.ts";

/** Valid or nearly valid JSON that is made to break parsers. */

const agentText = (inside: string) => `{"messages": [{"type": "human", "content": "Hi"${inside}}]}`;
const evalText = (inside: string) =>
  JSON.stringify(evaluateBody()).replace('"user_message"', `${inside.slice(1)},"user_message"`);

const deep = (open: string, close: string) => open.repeat(100_000) + "1" + close.repeat(100_000);

/** Text beside the known fields, and the resulting status. */
const INSIDE: Record<string, [inside: string, status: number]> = {
  "a hundred thousand arrays deep": [`,"x":${deep("[", "]")}`, 400],
  "a hundred thousand objects deep": [`,"x":${deep('{"a":', "}")}`, 400],
  "deep and never closed": [`,"x":${"[".repeat(100_000)}`, 400],
  "brackets inside a string": [`,"x":"${"[{".repeat(1000)}\\"["`, 200],
  "two hundred thousand keys": [
    `,"x":{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join(",")}}`,
    200,
  ],
  "a million values": [`,"x":[${"1,".repeat(1_000_000)}1]`, 400],
  "the same key ten thousand times": [`,"x":{${'"a":1,'.repeat(9_999)}"a":2}`, 200],
  "__proto__ as a key": [`,"__proto__":{"isAdmin":true}`, 200],
  "__proto__ deeper down": [
    `,"x":{"__proto__":{"isAdmin":true},"constructor":{"prototype":1}}`,
    200,
  ],
  "names that objects have": [`,"toString":1,"hasOwnProperty":null,"valueOf":"x"`, 200],
  "a lone surrogate": [`,"x":"\\ud800"`, 200],
  "NUL": [`,"x":"\\u0000"`, 200],
  "a raw control character": [`,"x":"\u0000"`, 400],
  "a huge number": [`,"x":1e999`, 200],
  "a number of a million digits": [`,"x":${"9".repeat(1_000_000)}`, 200],
  "NaN": [`,"x":NaN`, 400],
};

for (const [what, [inside, status]] of Object.entries(INSIDE)) {
  Deno.test(`agent: ${what} is answered with ${status}`, async () => {
    const { service } = agentService(createScriptedProvider());
    const response = await service(agentRequestOf(agentText(inside)));
    await response.text();
    assertEquals(response.status, status);
    assert(!("isAdmin" in {}), "the prototype of all objects was changed");
  });

  Deno.test(`eval: ${what} is answered with ${status}`, async () => {
    const { service } = evalService();
    const response = await service(evaluateRequestOf(evalText(inside)));
    const text = await response.text();
    assertEquals(response.status, status);
    JSON.parse(text); // complete, also if it is streamed
    assert(!("isAdmin" in {}), "the prototype of all objects was changed");
  });
}

/** Values of a known field. */
const VALUES = ["1e999", "-0", '"\\ud800"', '"\\u0000"', "{}", "[]", "null", "true", '""'];

for (const value of VALUES) {
  Deno.test(`${value} in the place of any field is no 500`, async () => {
    const body = evaluateBody({ attempts: 1, test_name: "t", parameters: { temperature: 0 } });
    for (const field of [...Object.keys(body), "protocol"]) {
      const text = JSON.stringify({ ...body, [field]: "@" }).replace('"@"', value);
      const response = await evalService().service(evaluateRequestOf(text));
      await response.text();
      assert(response.status < 500, `${field}: ${response.status}`);
    }
    const { service } = agentService(createScriptedProvider());
    for (
      const text of [
        `{"messages": ${value}}`,
        `{"messages": [${value}]}`,
        `{"messages": [{"type": ${value}, "content": "x"}]}`,
        `{"messages": [{"type": "human", "content": ${value}}]}`,
        `{"messages": [{"type": "tool", "content": "x", "name": ${value}}]}`,
        value,
      ]
    ) {
      const response = await service(agentRequestOf(text));
      await response.text();
      assert(response.status < 500, `${text}: ${response.status}`);
    }
  });
}

Deno.test("of duplicate keys the last one counts, as everywhere", async () => {
  const { service, asked } = evalService();
  const text = JSON.stringify(evaluateBody()).replace('"model_id"', '"model_id":"a","model_id"');
  const response = await service(evaluateRequestOf(text));
  assertEquals((await response.json()).model_id, "m");
  assertEquals(asked.length, 1);
});
