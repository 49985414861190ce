import { assert, assertEquals } from "@std/assert";
import { type Document, readDocument, requestTo, SERVICES } from "./fakes/described_services.ts";

/** The schema's own fields, and those of each of its alternatives. */
function fieldsOf({ properties = {}, oneOf = [] }: Document): [string, Document][] {
  return [...Object.entries<Document>(properties), ...oneOf.flatMap(fieldsOf)];
}

const EXPLAINED = {
  eval: [
    ...["EvaluateRequest", "EvaluateTarget", "ModelParameters"],
    ...["Scenario", "Interaction", "ReferenceTool", "Check"],
  ],
  agent: ["ResponseRequest"],
};

for (const [name, explained] of Object.entries(EXPLAINED)) {
  Deno.test(`${name}: every field of a request is explained`, async () => {
    const { components: { schemas } } = await readDocument(SERVICES[name]!());
    for (const id of explained) {
      for (const [field, schema] of fieldsOf(schemas[id])) {
        assert(schema.description || isPlain(field), `${id}.${field}`);
      }
    }
  });
}

/** Fields that the description of their check explains. */
const isPlain = (field: string) => field === "type" || field === "value";

Deno.test("eval: every kind of check is explained", async () => {
  const { components: { schemas } } = await readDocument(SERVICES.eval!());
  for (const { properties, description } of schemas.Check.oneOf) {
    assert(description, properties.type.const);
  }
});

Deno.test("agent: every field of a response that does not repeat the request is described", async () => {
  const service = SERVICES.agent!();
  const { components: { schemas } } = await readDocument(service);
  const response = await service(requestTo("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "demo/assistant", input: "What is 17 * 23?" }),
  }));
  const known = [schemas.Response, schemas.ResponseRequest].flatMap(fieldsOf).map(([name]) => name);
  const more = Object.keys(await response.json()).filter((field) => !known.includes(field));
  assertEquals(more, ["truncation"]); // which is always "disabled"
});

for (const [name, create] of Object.entries(SERVICES)) {
  Deno.test(`${name}: the headers of a rate limit are described where there is a limit`, async () => {
    const { paths } = await readDocument(create());
    for (const [path, operations] of Object.entries<Document>(paths)) {
      for (const { responses } of Object.values<Document>(operations)) {
        for (const [status, { headers }] of Object.entries<Document>(responses)) {
          const found = ["ratelimit", "ratelimit-policy"].map((header) => header in headers);
          assertEquals(
            found,
            "429" in responses ? [true, true] : [false, false],
            `${path} ${status}`,
          );
        }
      }
    }
  });
}

/** The routes whose request may lead to one of a provider. */
const ASKING: Record<string, string[]> = {
  agent: [
    "get /studio/models",
    "get /v1/models",
    "get /v1/models/{id}",
    "post /",
    "post /ag-ui",
    "post /ai-sdk",
    "post /v1/chat/completions",
    "post /v1/responses",
  ],
  eval: [],
};
for (const [name, create] of Object.entries(SERVICES)) {
  Deno.test(`${name}: x-should-retry is described for the routes that ask a provider`, async () => {
    const { paths } = await readDocument(create());
    const found = Object.entries<Document>(paths).flatMap(([path, operations]) =>
      Object.entries<Document>(operations).flatMap(([method, { responses }]) =>
        Object.entries<Document>(responses)
          .filter(([, { headers }]) => "x-should-retry" in headers)
          .map(([status]) => `${method} ${path} ${status}`)
      )
    );
    const expected = ASKING[name]!.flatMap((route) =>
      ["429", "502", "504"].map((status) => `${route} ${status}`)
    );
    assertEquals(found.toSorted(), expected.toSorted());
  });
}

Deno.test("eval: what a result has of its request is described", async () => {
  const service = SERVICES.eval!();
  const { components: { schemas } } = await readDocument(service);
  const checks = [{ type: "max_words", value: 9 }];
  const interactions = [{ id: "1", user_message: "Hi", reference_reply: "Hello" }];
  const sent = {
    test_batch: { id: "s", description: "d", interactions, checks, conversation_checks: checks },
    endpoint: "http://model.example/v1",
    model_id: "m",
    test_name: "t",
    attempts: 1,
    pass_threshold: 0.5,
    rubric: "be nice",
    judge_votes: 3,
    history: "generated",
    parameters: { seed: 1 },
    protocol: "openai",
  };
  const response = await service(requestTo("/evaluate", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(sent),
  }));
  const answer = await response.json();
  const [scenario] = answer.results.scenarios;
  const [interaction] = scenario.attempts[0].interactions;
  const parts = {
    EvaluateResponse: answer,
    ScenarioResult: scenario,
    InteractionResult: interaction,
  };
  for (const [name, part] of Object.entries(parts)) {
    const described = Object.keys(schemas[name].properties);
    assertEquals(Object.keys(part).filter((field) => !described.includes(field)), [], name);
  }
});
