import { assert, assertEquals, assertRejects } from "@std/assert";
import { isAbort } from "../../../shared/errors.ts";
import { createLogger } from "../../../shared/log.ts";
import { type ListedModel, ProviderError } from "../../../shared/providers/provider.ts";
import { createStudioModels } from "../../../agent/models/studio.ts";

const [A, B, C, D] = [
  "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  "7f9c24e8-3b12-4ff7-8a65-0c1d2e3f4a5b",
  "11111111-2222-8333-c444-555555555555",
  "AAAAAAAA-0000-4000-8000-000000000000",
] as const;

/** A lister whose answers the test gives by hand, a clock that it turns, and the log's lines. */
function setUp() {
  const asked: PromiseWithResolvers<ListedModel[]>[] = [];
  const lines: string[] = [];
  let time = 1_000_000;
  const models = createStudioModels({
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
  return { models, asked, lines, pass: (ms: number) => time += ms };
}

function refusal(status = 502): ProviderError {
  const code = status === 504 ? "provider_timeout" : "provider_error";
  return new ProviderError(status, code, "cannot list", { kind: "unreachable" });
}

/** Lets everything that is already settled take its course. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("a fixed list wins, and no provider is asked", async () => {
  const lister = { listModels: () => Promise.reject(new Error("asked")) };
  assertEquals(await createStudioModels({ fixed: { a: A }, lister }).list(), { a: A });
  assertEquals(await createStudioModels({ fixed: {}, lister }).list(), {});
});

Deno.test("where nothing is configured the list is empty", async () => {
  assertEquals(await createStudioModels({}).list(), {});
});

const LISTS: [what: string, models: ListedModel[], expected: Record<string, string>][] = [
  ["an empty list", [], {}],
  ["ids of every UUID shape", [{ id: C, name: "c" }, { id: D, name: "d" }], { c: C, d: D }],
  ["ids that are no UUIDs", [{ id: "gpt-4o", name: "x" }, { id: "a/b", name: "y" }], {}],
  [
    "one name three times",
    [{ id: A, name: "x" }, { id: B, name: "x" }, { id: C, name: "x" }],
    { "x": A, "x (2)": B, "x (3)": C },
  ],
  [
    "a name that is taken by a number",
    [{ id: A, name: "x" }, { id: B, name: "x (2)" }, { id: C, name: "x" }],
    { "x": A, "x (2)": B, "x (3)": C },
  ],
  [
    "one name for very many",
    Array.from({ length: 50_000 }, () => ({ id: A, name: "x" })),
    Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at ? `x (${at + 1})` : "x", A])),
  ],
  ["a name that objects know", [{ id: A, name: "constructor" }], { constructor: A } as never],
];
for (const [what, listed, expected] of LISTS) {
  Deno.test(`${what} is listed as far as it can be routed`, async () => {
    const lister = { listModels: () => Promise.resolve(listed) };
    assertEquals({ ...await createStudioModels({ lister }).list() }, expected);
  });
}

Deno.test("a list is kept for 60 seconds", async () => {
  const { models, asked, pass } = setUp();
  const first = models.list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await first, { a: A });
  pass(59_999);
  assertEquals(await models.list(), { a: A });
  assertEquals(asked.length, 1);
});

Deno.test("a list that is out of date is served while one new one is fetched", async () => {
  const { models, asked, pass } = setUp();
  const first = models.list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  await first;
  pass(60_000);
  assertEquals(await models.list(), { a: A });
  assertEquals(await models.list(), { a: A });
  assertEquals(asked.length, 2);
  asked[1]!.resolve([{ id: B, name: "b" }]);
  await settle();
  assertEquals(await models.list(), { b: B });
  assertEquals(asked.length, 2);
});

Deno.test("a renewal that fails leaves the old list, a warning, and a pause", async () => {
  const { models, asked, lines, pass } = setUp();
  const first = models.list();
  asked[0]!.resolve([{ id: A, name: "a" }]);
  await first;
  pass(60_000);
  await models.list();
  asked[1]!.reject(refusal());
  await settle();
  assertEquals(lines.length, 1);
  assert(lines[0]?.includes("WARN") && lines[0].includes("fine-tuned models"), lines[0]);
  assertEquals(await models.list(), { a: A });
  assertEquals(asked.length, 2);
  pass(60_000);
  assertEquals(await models.list(), { a: A });
  assertEquals(asked.length, 3);
  asked[2]!.resolve([{ id: B, name: "b" }]);
  await settle();
  assertEquals(await models.list(), { b: B });
});

for (const status of [429, 502, 504]) {
  Deno.test(`a list that was never read is a 502 (provider: ${status}), and asked for again`, async () => {
    const { models, asked } = setUp();
    const first = models.list();
    asked[0]!.reject(refusal(status));
    const error = await assertRejects(() => first, ProviderError, "cannot list");
    assertEquals(error.status, 502);
    const second = models.list();
    asked[1]!.resolve([{ id: A, name: "a" }]);
    assertEquals(await second, { a: A });
  });
}

Deno.test("first callers share one fetch", async () => {
  const { models, asked } = setUp();
  const callers = [models.list(), models.list(), models.list()];
  assertEquals(asked.length, 1);
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await Promise.all(callers), [{ a: A }, { a: A }, { a: A }]);
});

Deno.test("a caller that leaves is let go, and the others get their list", async () => {
  const { models, asked } = setUp();
  const caller = new AbortController();
  const leaving = models.list(caller.signal);
  const staying = models.list(new AbortController().signal);
  caller.abort();
  assert(isAbort(await assertRejects(() => leaving)));
  asked[0]!.resolve([{ id: A, name: "a" }]);
  assertEquals(await staying, { a: A });
});

Deno.test("a caller that has left already asks nothing", async () => {
  const { models, asked } = setUp();
  assert(isAbort(await assertRejects(() => models.list(AbortSignal.abort()))));
  assertEquals(asked.length, 0);
});
