import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ModelRules } from "../../../agent/models/choice.ts";
import { createHubModels, createStudioModels } from "../../../agent/models/model_lists.ts";
import { isAbort } from "../../../shared/errors.ts";
import { createLogger } from "../../../shared/log.ts";
import { type ListedModel, ProviderError } from "../../../shared/providers/provider.ts";
import { providerOf } from "../../fakes/openai_provider.ts";
import { hang, startProviderDouble } from "../../fakes/provider_double.ts";
import { never } from "../../fakes/scripted_provider.ts";
import { shiftClock } from "../../fakes/shifted_clock.ts";

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

const STRICT: ModelRules = { HUB_BARE_MODELS: "off", MODEL_ALIASES: undefined };

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
