import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { AgentConfig } from "../../../../agent/config.ts";
import {
  DEMO_MODEL,
  DEMO_STUDIO,
  explainRoute,
  type ModelRules,
  resolveModel,
} from "../../../../agent/core/models/choice.ts";
import { createHubModels, createStudioModels } from "../../../../agent/core/models/model_lists.ts";
import { createLazyProvider, createModels } from "../../../../agent/core/models/models.ts";
import { parseConfig } from "../../../../shared/service/config.ts";
import { AppError, isAbort } from "../../../../shared/service/errors.ts";
import { createLogger, silentLogger } from "../../../../shared/service/log.ts";
import { type ListedModel, ProviderError } from "../../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { providerOf } from "../../../fakes/openai_provider.ts";
import { hang, json, startProviderDouble } from "../../../fakes/provider_double.ts";
import { createScriptedProvider, never } from "../../../fakes/scripted_provider.ts";
import { startServiceProcess } from "../../../fakes/service_process.ts";
import { shiftClock } from "../../../fakes/shifted_clock.ts";
import { until } from "../../../fakes/until.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const STRICT: ModelRules = { HUB_BARE_MODELS: "off", MODEL_ALIASES: undefined };
const BARE: ModelRules = { ...STRICT, HUB_BARE_MODELS: "on" };
const ALIASES: ModelRules = {
  ...STRICT,
  MODEL_ALIASES: { fast: "acme/small", tuned: UUID, "openai/gpt-4o": "acme/large" },
};

const ROUTES: [ModelRules, id: string, target: string | null, model: string][] = [
  [STRICT, "gpt-4o", null, "gpt-4o"],
  [STRICT, "constructor", null, "constructor"],
  [BARE, "gpt-4o", "hub", "gpt-4o"],
  [BARE, " llama3.2:8b ", "hub", "llama3.2:8b"],
  [BARE, "/model", "hub", "/model"],
  [BARE, UUID, "studio", UUID],
  [BARE, "acme/small", "hub", "acme/small"],
  [BARE, " ", null, ""],
  [ALIASES, "fast", "hub", "acme/small"],
  [ALIASES, " tuned ", "studio", UUID],
  [ALIASES, "openai/gpt-4o", "hub", "acme/large"],
  [ALIASES, "constructor", null, "constructor"],
];
for (const [rules, id, target, model] of ROUTES) {
  const name = rules === STRICT ? "the rule alone" : rules === BARE ? "HUB_BARE_MODELS" : "aliases";
  Deno.test(`with ${name}, ${JSON.stringify(id)} leads to ${target} as ${model}`, () => {
    assertEquals<unknown>(resolveModel(id, rules), { target, model });
  });
}

Deno.test("a route is explained by what led to it", () => {
  assertStringIncludes(explainRoute("gpt-4o", STRICT).reason, "HUB_BARE_MODELS=on");
  assertStringIncludes(explainRoute("gpt-4o", BARE).reason, "HUB_BARE_MODELS is on");
  assertStringIncludes(explainRoute("fast", ALIASES).reason, "alias of acme/small");
});

function serve(environment: Record<string, string>) {
  const provider = createScriptedProvider({});
  const { service, asked } = agentService(provider, { environment });
  const post = (model: string, { plain = false } = {}) =>
    service(
      new Request("http://127.0.0.1:8000/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", ...(plain && { "x-agent-tools": "off" }) },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
      }),
    );
  return { service, provider, asked, post };
}
const BODY = { messages: [{ type: "human", content: "Hi" }] };

Deno.test("bare ids and aliases reach the provider on every route", async () => {
  const { service, provider, asked, post } = serve({
    HUB_BARE_MODELS: "on",
    MODEL_ALIASES: `{"fast": "acme/small", "tuned": "${UUID}"}`,
  });
  for (const id of ["llama3.2", "fast", "tuned"]) {
    await service(agentRequestOf(BODY, { headers: { "x-model-id": id } }));
    await post(id);
    await post(id, { plain: true });
    await post(`${id}:plain`);
  }
  const each = (model: string) => Array(4).fill(model);
  assertEquals(provider.requests.map(({ model }) => model), [
    ...each("llama3.2"),
    ...each("acme/small"),
    ...each(UUID),
  ]);
  assertEquals(asked, [...each("hub"), ...each("hub"), ...each("studio")]);
});

Deno.test("without them the specification's rule holds, and the 400 names the variables", async () => {
  const { service, provider, post } = serve({});
  const response = await service(agentRequestOf(BODY, { headers: { "x-model-id": "gpt-4o" } }));
  const { code, detail } = await response.json();
  assertEquals([response.status, code], [400, "invalid_model_id"]);
  for (const text of [detail, (await (await post("gpt-4o")).json()).error.message]) {
    assertStringIncludes(text, "neither a UUID nor <provider>/<model>");
    assertStringIncludes(text, "HUB_BARE_MODELS=on");
    assertStringIncludes(text, "MODEL_ALIASES");
  }
  assertEquals(provider.requests, []);
});

Deno.test("a fallback may be an alias", async () => {
  const { service, provider } = serve({
    HUB_FALLBACK: "fast",
    MODEL_ALIASES: `{"fast": "acme/small"}`,
  });
  await service(agentRequestOf(BODY, { headers: { "x-model-id": "fast" } }));
  assertEquals(provider.requests.map(({ model }) => model), ["acme/small"]);
});

Deno.test("models that the hub lists and the rule hides are named at the start and in the list", async () => {
  const data = [{ id: "acme/small" }, { id: "gpt-4o" }, { id: "llama3.2" }];
  await using hub = await startProviderDouble(json({ data }));
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, HUB_BARE_MODELS: "off" },
  });
  await hub.received();
  const list = await (await fetch(`${agent.url}/v1/models`)).json();
  assertEquals(list.data.map(({ id }: { id: string }) => id), ["acme/small"]);
  assertEquals(list.diagnostics.hidden_models, ["gpt-4o", "llama3.2"]);
  assertStringIncludes(list.diagnostics.reason, "2 models of the hub cannot be asked");
  assertStringIncludes(list.diagnostics.reason, "HUB_BARE_MODELS=on");
  const told = () => agent.lines.find((line) => line.includes("cannot be asked"));
  await until(() => told());
  assertStringIncludes(told()!, "gpt-4o, llama3.2");
  assertEquals(hub.requests.length, 1);
});

Deno.test("the date on which a model of the hub or of an endpoint goes is passed on", async () => {
  const data = [{ id: "acme/small", shutdown_date: "2026-12-31" }, { id: "acme/large" }];
  await using hub = await startProviderDouble(json({ data }));
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const list = await (await fetch(`${agent.url}/v1/models`)).json();
  const dates = (models: { shutdown_date?: string }[]) =>
    models.map(({ shutdown_date }) => shutdown_date);
  assertEquals(dates(list.data), ["2026-12-31", undefined]);
  await using evaluation = await startServiceProcess("eval");
  const endpoint = encodeURIComponent(hub.baseUrl);
  const listed = await (await fetch(`${evaluation.url}/models?endpoint=${endpoint}`)).json();
  assertEquals(dates(listed.models), ["2026-12-31", undefined]);
});

function models(environment: Record<string, string>) {
  return createModels(parseConfig(AgentConfig, environment), silentLogger);
}

Deno.test("without configuration the demo serves both targets and lists its model", async () => {
  const { demoModel, providerFor, listStudio } = models({});
  assertEquals(demoModel, DEMO_MODEL);
  assertEquals(providerFor("hub"), providerFor("studio"));
  assertEquals(await listStudio(), { [DEMO_STUDIO.name]: DEMO_STUDIO.id });
});

Deno.test("if one provider is configured, the error for the other target names its variable", () => {
  const cases: [Record<string, string>, "hub" | "studio", string][] = [
    [{ HUB_BASE_URL: "http://hub.test/v1" }, "studio", "STUDIO_BASE_URL"],
    [{ STUDIO_BASE_URL: "http://studio.test/v1" }, "hub", "HUB_BASE_URL"],
    [{ STUDIO_MODELS: `{"a":"${UUID}"}` }, "hub", "HUB_BASE_URL"],
    [{ STUDIO_MODELS: `{"a":"${UUID}"}` }, "studio", "STUDIO_BASE_URL"],
  ];
  for (const [environment, target, variable] of cases) {
    const { demoModel, providerFor } = models(environment);
    assertEquals(demoModel, undefined);
    const error = assertThrows(() => providerFor(target), AppError);
    assertEquals([error.status, error.code], [503, "provider_not_configured"]);
    assertStringIncludes(error.message, variable);
  }
});

Deno.test("each configured target has its own provider", () => {
  const { providerFor } = models({
    HUB_BASE_URL: "http://hub.test/v1",
    STUDIO_BASE_URL: "http://studio.test/v1",
  });
  assertEquals([providerFor("hub").name, providerFor("studio").name], ["hub", "studio"]);
});

Deno.test("fine-tuned models come from the configuration; without it and a provider there are none", async () => {
  assertEquals(await models({ STUDIO_MODELS: `{"a":"${UUID}"}` }).listStudio(), { a: UUID });
  assertEquals(await models({ HUB_BASE_URL: "http://hub.test/v1" }).listStudio(), {});
});

const [A, B, C, D] = [
  "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  "7f9c24e8-3b12-4ff7-8a65-0c1d2e3f4a5b",
  "11111111-2222-8333-c444-555555555555",
  "AAAAAAAA-0000-4000-8000-000000000000",
] as const;

/** A list whose provider's answers and clock are controlled by the test, and the log's lines. */
function setUp() {
  const asked: PromiseWithResolvers<ListedModel[]>[] = [];
  const lines: string[] = [];
  let time = 1_000_000;
  const list = createStudioModels({
    lister: {
      listModels() {
        const answer = Promise.withResolvers<ListedModel[]>();
        asked.push(answer);
        return answer.promise;
      },
    },
    now: () => time,
    log: createLogger({ level: "info", format: "text", write: (line) => lines.push(line) }),
  });
  return { list, asked, lines, pass: (ms: number) => time += ms };
}

function refusal(status = 502): ProviderError {
  const code = status === 504 ? "provider_timeout" : "provider_error";
  return new ProviderError(status, code, "cannot list", { kind: "unreachable" });
}

/** Waits until the handlers of settled promises have run. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("if a fixed list is configured, no provider is asked", async () => {
  const lister = { listModels: () => Promise.reject(new Error("asked")) };
  assertEquals(await createStudioModels({ fixed: { a: A }, lister })(), { a: A });
  assertEquals(await createStudioModels({ fixed: {}, lister })(), {});
});

Deno.test("the list is empty if nothing is configured", async () => {
  assertEquals(await createStudioModels({})(), {});
});

const LISTS: [what: string, models: ListedModel[], expected: Record<string, string>][] = [
  ["no models", [], {}],
  ["ids of every UUID shape", [{ id: C, name: "c" }, { id: D, name: "d" }], { c: C, d: D }],
  ["ids that are not UUIDs", [{ id: "gpt-4o", name: "x" }, { id: "a/b", name: "y" }], {}],
  [
    "one name three times",
    [{ id: A, name: "x" }, { id: B, name: "x" }, { id: C, name: "x" }],
    { "x": A, "x (2)": B, "x (3)": C },
  ],
  [
    "a name with a number that is already taken",
    [{ id: A, name: "x" }, { id: B, name: "x (2)" }, { id: C, name: "x" }],
    { "x": A, "x (2)": B, "x (3)": C },
  ],
  [
    "very many models with one name",
    Array.from({ length: 50_000 }, () => ({ id: A, name: "x" })),
    Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at ? `x (${at + 1})` : "x", A])),
  ],
  ["the name constructor", [{ id: A, name: "constructor" }], { constructor: A } as never],
];
for (const [what, listed, expected] of LISTS) {
  Deno.test(`a list of ${what} contains what can be routed`, async () => {
    const lister = { listModels: () => Promise.resolve(listed) };
    assertEquals({ ...await createStudioModels({ lister })() }, expected);
  });
}

Deno.test("a list is kept for 60 seconds", async () => {
  const { list, asked, pass } = setUp();
  const first = list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await first, { a: A });
  pass(59_999);
  assertEquals(await list(), { a: A });
  assertEquals(asked.length, 1);
});

Deno.test("an expired list is served while a new one is fetched once", async () => {
  const { list, asked, pass } = setUp();
  const first = list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  await first;
  pass(60_000);
  assertEquals(await list(), { a: A });
  assertEquals(await list(), { a: A });
  assertEquals(asked.length, 2);
  asked[1]!.resolve([{ id: B, name: "b" }]);
  await settle();
  assertEquals(await list(), { b: B });
  assertEquals(asked.length, 2);
});

Deno.test("a failed renewal keeps the old list, logs a warning and is repeated after a minute", async () => {
  const { list, asked, lines, pass } = setUp();
  const first = list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  await first;
  pass(60_000);
  await list();
  asked[1]!.reject(refusal());
  await settle();
  assertEquals(lines.length, 1);
  assert(lines[0]?.includes("WARN") && lines[0].includes("fine-tuned models"), lines[0]);
  assertEquals(await list(), { a: A });
  assertEquals(asked.length, 2);
  pass(60_000);
  assertEquals(await list(), { a: A });
  assertEquals(asked.length, 3);
  asked[2]!.resolve([{ id: B, name: "b" }]);
  await settle();
  assertEquals(await list(), { b: B });
});

for (const status of [429, 502, 504]) {
  Deno.test(`a first list that fails (provider: ${status}) is a 502, and is asked for again`, async () => {
    const { list, asked } = setUp();
    const first = list();
    asked[0]!.reject(refusal(status));
    const error = await assertRejects(() => first, ProviderError, "cannot list");
    assertEquals(error.status, 502);
    const second = list();
    asked[1]!.resolve([{ id: A, name: "a" }]);
    assertEquals(await second, { a: A });
  });
}

Deno.test("the first callers share one fetch", async () => {
  const { list, asked } = setUp();
  const callers = [list(), list(), list()];
  assertEquals(asked.length, 1);
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await Promise.all(callers), [{ a: A }, { a: A }, { a: A }]);
});

Deno.test("a caller that leaves stops waiting, and the others get their list", async () => {
  const { list, asked } = setUp();
  const caller = new AbortController();
  const leaving = list(caller.signal);
  const staying = list(new AbortController().signal);
  caller.abort();
  assert(isAbort(await assertRejects(() => leaving)));
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await staying, { a: A });
});

Deno.test("a caller that has already left causes no request", async () => {
  const { list, asked } = setUp();
  assert(isAbort(await assertRejects(() => list(AbortSignal.abort()))));
  assertEquals(asked.length, 0);
});

Deno.test("the hub is asked for its models once a minute, and models that cannot be routed are listed separately", async () => {
  let asked = 0;
  let time = 1_000_000;
  const list = createHubModels({
    listModels: () => {
      asked++;
      return Promise.resolve([{ id: "a/b", name: "B" }, { id: "plain", name: "P" }]);
    },
  }, { rules: STRICT, now: () => time });
  const expected = { models: [{ id: "a/b", name: "B" }], hidden: ["plain"] };
  assertEquals(await Promise.all([list(), list()]), [expected, expected]);
  assertEquals(asked, 1);
  time += 60_000;
  await list();
  assertEquals(asked, 2);
});

Deno.test("with bare models nothing is hidden, and aliases come first", async () => {
  const list = createHubModels({
    listModels: () => Promise.resolve([{ id: "llama3.2", name: "Llama" }]),
  }, { rules: { HUB_BARE_MODELS: "on", MODEL_ALIASES: { fast: "acme/small" } } });
  assertEquals(await list(), {
    models: [{ id: "fast", name: "acme/small" }, { id: "llama3.2", name: "Llama" }],
    hidden: [],
  });
});

Deno.test("of a hub's list of more than 10,000 models the rest is left out, and the list says so", async () => {
  const listed = Array.from({ length: 10_001 }, (_, index) => ({ id: `a/${index}`, name: "A" }));
  const list = createHubModels({ listModels: () => Promise.resolve(listed) }, { rules: STRICT });
  const { models, error } = await list();
  assertEquals([models.length, error], [
    10_000,
    "the hub lists more models than 10,000: the rest is left out",
  ]);
});

Deno.test("if the hub's list fails, it is empty or the last one", async () => {
  let isDown = true;
  let time = 1_000_000;
  const list = createHubModels({
    listModels: () =>
      isDown ? Promise.reject(new Error("404")) : Promise.resolve([{ id: "a/b", name: "B" }]),
  }, { rules: STRICT, now: () => time });
  const error = "cannot list the models of hub";
  assertEquals(await list(), { models: [], hidden: [], error });
  isDown = false;
  time += 60_000;
  assertEquals(await list(), { models: [{ id: "a/b", name: "B" }], hidden: [] });
  isDown = true;
  time += 60_000;
  assertEquals((await list()).models.length, 1);
});

Deno.test("a hub that does not list its models in time is logged as late, not as a caller that left", async () => {
  await using double = await startProviderDouble(hang());
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "text", write: (line) => lines.push(line) });
  const list = createHubModels(providerOf(double), { rules: STRICT, log, timeoutMs: 20 });
  const error = "cannot list the models of hub: it did not answer in time";
  assertEquals(await list(), { models: [], hidden: [], error });
  assert(lines[0]?.includes("did not answer in time"), lines[0]);
});

Deno.test("a caller that leaves does not wait for the hub's list", async () => {
  const list = createHubModels({ listModels: () => never() }, { rules: STRICT });
  const controller = new AbortController();
  const waiting = list(controller.signal).catch(() => "left");
  controller.abort();
  assertEquals(await waiting, "left");
});

Deno.test("a clock that is set does not change when a list is read again", async () => {
  using clock = shiftClock(0);
  let asked = 0;
  const lister = { listModels: () => Promise.resolve([{ id: A, name: `read ${++asked} times` }]) };
  const lists = [createStudioModels({ lister }), createHubModels(lister, { rules: STRICT })];
  for (const list of lists) await list();
  clock.set(1);
  for (const list of lists) await list();
  assertEquals(asked, lists.length);
});

const REQUEST = { model: "a/b", messages: [] };

function lazy(failures = 0) {
  let created = 0;
  const scripted = {
    ...createScriptedProvider({ content: "Hi" }),
    listModels: () => Promise.resolve([]),
  };
  const provider = createLazyProvider({ name: "hub" }, () => {
    if (created++ < failures) return Promise.reject(new Error("no code"));
    return Promise.resolve(scripted);
  });
  return { provider, created: () => created };
}

Deno.test("a provider is created once, by the first call of any kind", async () => {
  const { provider, created } = lazy();
  assertEquals([provider.name, created()], ["hub", 0]);
  const first = await Promise.all([
    provider.complete(REQUEST),
    Array.fromAsync(provider.stream(REQUEST)),
    provider.listModels(),
    provider.load(),
  ]);
  assertEquals([first[0].content, first[1].length, first[2]], ["Hi", 2, []]);
  assertEquals((await Array.fromAsync(provider.stream(REQUEST))).at(-1)?.type, "reply");
  await provider.load();
  assertEquals(created(), 1);
});

Deno.test("creating a provider is tried again after a failure", async () => {
  const { provider, created } = lazy(1);
  await assertRejects(() => provider.load(), Error, "no code");
  assertEquals((await provider.complete(REQUEST)).content, "Hi");
  assertEquals(created(), 2);
});
