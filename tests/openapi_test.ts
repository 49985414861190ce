import { createConfig, lintFromString } from "@redocly/openapi-core";
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createModels } from "../agent/models/models.ts";
import { AgentConfig } from "../agent/config.ts";
import { EvalConfig } from "../eval/config.ts";
import * as observation from "../eval/endpoint/observation.ts";
import { createEvalDeps } from "../eval/wiring.ts";
import { parseConfig } from "../shared/config.ts";
import type { Service } from "../shared/http/router.ts";
import { silentLogger } from "../shared/log.ts";
import { createMetrics } from "../shared/ops/metrics.ts";
import { agentService } from "./fakes/agent_service.ts";
import { evalService } from "./fakes/eval_service.ts";
import { memoryStore } from "./fakes/memory_store.ts";
import { createScriptedProvider } from "./fakes/scripted_provider.ts";

// deno-lint-ignore no-explicit-any -- a document of whatever shape, which is what is tested
type Document = any;

const config = parseConfig(AgentConfig, {});
const SERVICES: Record<string, () => Service> = {
  agent: () =>
    agentService(createScriptedProvider(), {
      models: createModels(config, silentLogger),
      operations: { metrics: createMetrics({ runs: () => 0 }), checks: {} },
    }).service,
  eval: () => {
    const { operations } = createEvalDeps(parseConfig(EvalConfig, {}), {
      log: silentLogger,
      store: memoryStore(),
      observation,
    });
    return evalService(() => "fine", operations ? { operations } : {}).service;
  },
};

const requestTo = (path: string, init: RequestInit = {}) =>
  new Request(`http://127.0.0.1${path}`, init);

async function readDocument(service: Service): Promise<Document> {
  return await (await service(requestTo("/openapi.json"))).json();
}

/** The README and the pages of `docs/`, as one text. */
function readDocuments(): string {
  const root = new URL("../", import.meta.url);
  const pages = [...Deno.readDirSync(new URL("docs/", root))].map(({ name }) => `docs/${name}`);
  return ["README.md", ...pages.filter((path) => path.endsWith(".md"))]
    .map((path) => Deno.readTextFileSync(new URL(path, root))).join("\n");
}

/** A parameter may be written `{id}`, `:id`, or `$ID` as in a shell. */
function namesPath(text: string, path: string): boolean {
  const escaped = path.replaceAll(".", "\\.");
  const source = escaped.replaceAll(/\{\w+\}/g, `(?:\\{\\w+\\}|:\\w+|'?\\$\\w+'?)`);
  return new RegExp(`(?<![\\w}])${source}(?![\\w/{-])`).test(text.replaceAll(/:\d+\//g, " /"));
}

for (const [name, create] of Object.entries(SERVICES)) {
  Deno.test(`${name}: the description is valid OpenAPI 3.1 by redocly's rules`, async () => {
    const document = await readDocument(create());
    assertEquals(document.openapi, "3.1.0");
    const config = await createConfig({ extends: ["recommended"] });
    const found = await lintFromString({ source: JSON.stringify(document), config });
    assertEquals(found.map(({ ruleId, message }) => `${ruleId}: ${message}`), []);
  });

  Deno.test(`${name}: every route is described, with its errors`, async () => {
    const document = await readDocument(create());
    for (const [path, operations] of Object.entries<Document>(document.paths)) {
      for (const [method, operation] of Object.entries<Document>(operations)) {
        const where = `${method.toUpperCase()} ${path}`;
        assert(operation.summary, `${where} has no summary`);
        for (const { name, description, schema } of operation.parameters ?? []) {
          assert(description ?? schema.description, `${where}: ${name} is not explained`);
        }
        const isForProbes = ["/healthz", "/readyz"].includes(path); // without a key or a limit
        for (const status of ["401", "429"]) {
          assertEquals(status in operation.responses, !isForProbes, `${where}: ${status}`);
        }
        for (const [status, { headers }] of Object.entries<Document>(operation.responses)) {
          assert("x-request-id" in (headers ?? {}), `${where}: ${status} has no x-request-id`);
        }
        assert("500" in operation.responses, where);
        if (method === "post" && operation.requestBody) assert("413" in operation.responses, where);
      }
    }
  });

  Deno.test(`${name}: every route is named in the documents`, async () => {
    const documents = readDocuments();
    for (const path of Object.keys((await readDocument(create())).paths)) {
      assert(namesPath(documents, path), `${path} is in no document`);
    }
  });

  Deno.test(`${name}: what is answered to ids that are none is described`, async () => {
    const service = create();
    for (
      const [path, operations] of Object.entries<Document>((await readDocument(service)).paths)
    ) {
      if (!path.includes("{")) continue;
      for (const [method, { responses, requestBody }] of Object.entries<Document>(operations)) {
        if (requestBody) continue; // which is refused first
        for (const id of ["nope", "-", "%00"]) {
          const asked = requestTo(path.replaceAll(/\{\w+\}/g, id), {
            method: method.toUpperCase(),
          });
          const { status } = await service(asked);
          assert(status in responses, `${asked.method} ${asked.url}: ${status} is not described`);
        }
      }
    }
  });

  Deno.test(`${name}: what is answered to the examples is what is described`, async () => {
    const service = create();
    const document = await readDocument(service);
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ ...document, $id: "api" });
    for (const [path, operations] of Object.entries<Document>(document.paths)) {
      if (path.includes("{")) continue; // needs something that is there
      for (const [method, operation] of Object.entries<Document>(operations)) {
        const { example } = operation.requestBody?.content["application/json"] ?? {};
        const at = `api#/paths/${path.replaceAll("/", "~1")}/${method}`;
        const asked = `${at}/requestBody/content/application~1json/schema`;
        if (example) assert(ajv.validate({ $ref: asked }, example), ajv.errorsText());
        if (method !== "get" && !example) continue;
        const response = await service(requestTo(path, {
          method: method.toUpperCase(),
          headers: { "content-type": "application/json", "x-model-id": "demo/assistant" },
          ...(example && { body: JSON.stringify(example) }),
        }));
        const described = operation.responses[response.status];
        assert(described, `${method} ${path}: ${response.status} is not described`);
        const type = response.headers.get("content-type")?.split(";")[0] ?? "";
        const text = await response.text();
        const pointer = `${at}/responses/${response.status}/content/` +
          `${type.replaceAll("/", "~1")}/schema`;
        const value = type.endsWith("json") ? JSON.parse(text) : text;
        assert(ajv.validate({ $ref: pointer }, value), `${method} ${path}: ${ajv.errorsText()}`);
        for (const [header, { required }] of Object.entries<Document>(described.headers ?? {})) {
          assert(!required || response.headers.has(header), `${method} ${path}: no ${header}`);
        }
      }
    }
  });
}

Deno.test("agent: a run's answer is described whole and as a stream, with all its headers", async () => {
  const service = SERVICES.agent!();
  const document = await readDocument(service);
  // Two messages of one kind in a row are mended, and the answer says so.
  const messages = ["Hello", "What is 17 * 23?"];
  const own = { messages: messages.map((content) => ({ type: "human", content })) };
  const openai = {
    model: "demo/assistant",
    messages: messages.map((content) => ({ role: "user", content })),
  };
  const asked: [string, unknown, string][] = [
    ["/", own, "application/json"],
    ["/", own, "text/event-stream"],
    ["/v1/chat/completions", openai, "application/json"],
    ["/v1/chat/completions", { ...openai, stream: true }, "text/event-stream"],
  ];
  for (const [path, body, type] of asked) {
    const response = await service(requestTo(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: type,
        "x-model-id": "demo/assistant",
      },
      body: JSON.stringify(body),
    }));
    await response.text();
    assertEquals(response.headers.get("content-type")?.split(";")[0], type);
    const { responses } = document.paths[path].post;
    assert(type in responses[200].content, `${path}: ${type} is not described`);
    const ours = [...response.headers.keys()].filter((name) =>
      /^(x-agent-|x-history-|server-timing)/.test(name)
    );
    assert(ours.includes("x-history-repairs"), `${path}: ${ours}`);
    for (const name of ours) assert(name in responses[200].headers, `${path}: ${name}`);
    assert(responses[502].description.includes("empty_reply"), path);
  }
});

Deno.test("agent: what the tools did is described, in both kinds of answers", async () => {
  const toolCalls = [{ id: "c1", name: "calculator", arguments: '{"expression":"17 * 23"}' }];
  const provider = createScriptedProvider({ toolCalls }, {}, { toolCalls }, {});
  const { service } = agentService(provider, {
    operations: { metrics: createMetrics({ runs: () => 0 }), checks: {} },
  });
  const { components: { schemas } } = await readDocument(service);
  const bodies = {
    "/": { prompt: "What is 17 * 23?" },
    "/v1/chat/completions": { model: "acme/m", messages: [{ role: "user", content: "17 * 23?" }] },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const response = await service(requestTo(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-model-id": "acme/m",
        "x-agent-events": "tools",
      },
      body: JSON.stringify(body),
    }));
    const answer = await response.json();
    const message = path === "/" ? answer : answer.choices[0].message;
    const schema = schemas[path === "/" ? "AgentReply" : "ChatCompletionMessage"];
    assertEquals(schema.properties.tool_events.items.$ref, "#/components/schemas/ToolEvent", path);
    const events: Document[] = message.tool_events;
    assertEquals(events.map(({ type }) => type), ["tool_call", "tool_result"]);
    const variants: Document[] = schemas.ToolEvent.oneOf;
    for (const event of events) {
      const variant = variants.find(({ properties }) => properties.type.const === event.type);
      assertEquals(Object.keys(event).toSorted(), Object.keys(variant.properties).toSorted());
    }
  }
});

Deno.test("agent: every status with which a provider refuses a run is described", async () => {
  const { paths } = await readDocument(SERVICES.agent!());
  for (const path of ["/", "/v1/chat/completions", "/v1/responses"]) {
    for (const status of [400, 402, 403, 413, 422, 451]) {
      assert(status in paths[path].post.responses, `${path}: ${status}`);
    }
  }
});

Deno.test("eval: every route that writes describes what a full disk answers", async () => {
  const { paths } = await readDocument(SERVICES.eval!());
  for (const [path, { get: _reads, ...operations }] of Object.entries<Document>(paths)) {
    for (const [method, { responses }] of Object.entries<Document>(operations)) {
      assert(responses[507]?.description.includes("storage_full"), `${method} ${path}`);
    }
  }
});

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

/** What a check looks for, which the check itself explains. */
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
