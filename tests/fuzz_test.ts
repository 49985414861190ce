import fc from "fast-check";
import { agentRequestOf, agentService } from "./fakes/agent_service.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "./fakes/eval_service.ts";
import { createScriptedProvider } from "./fakes/scripted_provider.ts";

/** No body whatever is answered by a 500: each service takes 10,000 of them, without sockets. */

const RUNS = 10_000;

const anything = fc.anything({ maxDepth: 2, maxKeys: 3, withNullPrototype: true });
const text = fc.string({ unit: "binary", maxLength: 40 });
const leaf = fc.oneof(
  anything,
  text,
  fc.constantFrom("human", "ai", "tool", "", null, 0, -1, 1e308),
);

/** Nearly right: the keys that a service knows, with values that may be. */
const message = fc.dictionary(fc.constantFrom("type", "content", "name", "__proto__", "x"), leaf);
const agentBody = fc.oneof(
  anything,
  fc.record({ messages: fc.oneof(leaf, fc.array(fc.oneof(message, leaf), { maxLength: 5 })) }),
  fc.record({
    messages: fc.array(
      fc.record({
        type: fc.constantFrom("human", "ai", "tool"),
        content: text,
        name: fc.option(text),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
);

const FIELDS = ["test_batch", "endpoint", "model_id", "attempts", "test_name", "protocol"];
const interaction = fc.record({
  id: fc.oneof(text, leaf),
  user_message: fc.oneof(text, leaf),
  reference_reply: leaf,
  reference_metadata: leaf,
}, { requiredKeys: [] });
const evalBody = fc.oneof(
  anything,
  fc.tuple(fc.constantFrom(...FIELDS, "parameters"), leaf)
    .map(([field, value]) => evaluateBody({ [field]: value })),
  fc.array(fc.oneof(interaction, leaf), { maxLength: 3 })
    .map((interactions) => evaluateBody({ test_batch: { id: "s", interactions } })),
  fc.record({
    id: text,
    user_message: text,
    reference_reply: text,
    reference_metadata: fc.dictionary(text, text),
  }).map((turn) => evaluateBody({ test_batch: { id: "s", interactions: [turn] } })),
);

/** Also what is not quite JSON: cut off, or with a byte exchanged. */
function bodies(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const whole = values.map((value) => JSON.stringify(value, replaceBigInt) ?? "undefined");
  const broken = fc.tuple(whole, fc.nat(), fc.string({ maxLength: 3 }))
    .map(([body, at, put]) => body.slice(0, at % (body.length + 1)) + put);
  return fc.oneof({ weight: 4, arbitrary: whole }, { weight: 1, arbitrary: broken });
}

const replaceBigInt = (_key: string, value: unknown) =>
  typeof value === "bigint" ? Number(value) : value;

async function check(
  values: fc.Arbitrary<unknown>,
  ask: (body: string) => Promise<Response>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(bodies(values), async (body) => {
      const response = await ask(body);
      const answer = await response.text();
      if (response.status >= 500) throw new Error(`${response.status}: ${answer}`);
      JSON.parse(answer);
    }),
    { numRuns: RUNS },
  );
}

Deno.test("no body makes POST / of the agent fail", async () => {
  const { service } = agentService(createScriptedProvider());
  await check(agentBody, (body) => service(agentRequestOf(body)));
});

Deno.test("no body makes POST /evaluate fail", async () => {
  const { service } = evalService();
  await check(evalBody, (body) => service(evaluateRequestOf(body)));
});

Deno.test("no x-model-id makes POST / of the agent fail", async () => {
  const { service } = agentService(createScriptedProvider());
  const id = fc.oneof(text, fc.uuid(), fc.tuple(text, text).map((parts) => parts.join("/")))
    .filter((value) => isHeaderValue(value));
  const body = { messages: [{ type: "human", content: "Hi" }] };
  await fc.assert(
    fc.asyncProperty(id, async (model) => {
      const response = await service(agentRequestOf(body, { headers: { "x-model-id": model } }));
      await response.text();
      if (response.status >= 500) throw new Error(String(response.status));
    }),
    { numRuns: 1000 },
  );
});

function isHeaderValue(value: string): boolean {
  try {
    new Headers({ x: value });
    return true;
  } catch {
    return false;
  }
}
