import { createConfig, lintFromString } from "npm:@redocly/openapi-core@2.64.0";
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createMetrics } from "../shared/service/ops/metrics.ts";
import { agentService } from "./fakes/agent_service.ts";
import { type Document, readDocument, requestTo, SERVICES } from "./fakes/described_services.ts";
import { createScriptedProvider } from "./fakes/scripted_provider.ts";

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
  // A blank message is left out, which the answer reports.
  const messages = [" ", "What is 17 * 23?"];
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
      if (["/compare", "/datasets", "/runs/export"].includes(path)) continue; // they store nothing
      assert(responses[507]?.description.includes("storage_full"), `${method} ${path}`);
    }
  }
});
