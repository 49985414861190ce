import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { failure, hubOf, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  errorStatus,
  json,
  raw,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const WORDS = "raw words of the provider";

const STATUSES: [sent: number, status: number, code: string, reason: string][] = [
  [400, 400, "provider_refused", `refused by the provider (400): ${WORDS}`],
  [401, 502, "provider_auth", "it rejects the configured credentials (401)"],
  [402, 402, "provider_refused", `refused by the provider (402): ${WORDS}`],
  [403, 403, "provider_refused", `refused by the provider (403): ${WORDS}`],
  [404, 404, "model_not_found", `it does not know the model: ${WORDS}`],
  [405, 502, "provider_error", `it answered status 405: ${WORDS}`],
  [408, 504, "provider_timeout", `it did not answer in time: ${WORDS}`],
  [409, 502, "provider_error", `it answered status 409: ${WORDS}`],
  [413, 413, "provider_refused", `refused by the provider (413): ${WORDS}`],
  [422, 422, "provider_refused", `refused by the provider (422): ${WORDS}`],
  [429, 429, "rate_limited", `rate limited by the provider (429): ${WORDS}`],
  [451, 451, "provider_refused", `refused by the provider (451): ${WORDS}`],
  [500, 502, "provider_error", `it answered status 500: ${WORDS}`],
  [503, 502, "provider_error", `it answered status 503: ${WORDS}`],
  [504, 502, "provider_error", `it answered status 504: ${WORDS}`],
];
for (const [sent, status, code, reason] of STATUSES) {
  for (const way of ["complete", "stream"] as const) {
    Deno.test(`${way}: a provider's ${sent} becomes ${status} ${code}`, async () => {
      const error = await failure(errorStatus(sent), (double) => WAYS[way](providerOf(double)));
      assertEquals([error.status, error.code], [status, code]);
      assertEquals(error.failure, { kind: "status", status: sent });
      assertEquals(
        error.message,
        `cannot get a reply from hub for model "acme/model-1": ${reason}`,
      );
    });
  }
}

Deno.test("a refusal keeps the provider's message, type, code and param", async () => {
  const words = {
    message: "This model's maximum context length is 8192 tokens.",
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "messages",
  };
  const answer = json({ error: words }, { status: 400 });
  for (const way of ["complete", "stream"] as const) {
    const error = await failure(answer, (double) => WAYS[way](providerOf(double)));
    assertEquals(error.provider, words);
  }
});

Deno.test("a 403 about the key is ours, and so is one that says nothing; any other is the caller's", async () => {
  const cases: [Answer, string][] = [
    [json({ error: { message: "Incorrect API key" } }, { status: 403 }), "provider_auth"],
    [json({ error: { code: "insufficient_permissions" } }, { status: 403 }), "provider_auth"],
    [raw("Forbidden", { status: 403 }), "provider_auth"],
    [raw("", { status: 403 }), "provider_auth"],
    [raw("<html>Access denied</html>", { status: 403 }), "provider_auth"],
    [json({ error: { message: "Input was flagged" } }, { status: 403 }), "provider_refused"],
    [
      json({ error: { code: "unsupported_country_region_territory" } }, { status: 403 }),
      "provider_refused",
    ],
  ];
  for (const [answer, code] of cases) {
    const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
    assertEquals(error.code, code, error.message);
  }
});

for (const status of [401, 403]) {
  Deno.test(`a ${status} names the variable, to set it or to check it`, async () => {
    const answer = raw("", { status });
    const ask = (apiKey: string) =>
      failure(
        answer,
        (double) => providerOf(double, { apiKey, keyVariable: "HUB_API_KEY" }).complete(REQUEST),
      );
    assertStringIncludes((await ask("")).message, "none is configured; set HUB_API_KEY");
    assertStringIncludes((await ask("secret-key")).message, `(${status}); check HUB_API_KEY`);
  });
}

Deno.test("what a provider says is shown without the key and without parts of its URL", async () => {
  const message = "raw words: secret-key, https://user:password@127.0.0.1/v1?token=query-secret";
  const answers = [
    ...STATUSES.map(([status]) => errorStatus(status, { message })),
    json({ error: { message } }),
    raw(`<html>${message}`, { headers: { "content-type": "application/json" } }),
    raw(`<html>${message}`, { headers: { "content-type": "text/html" } }),
  ];
  await using double = await startProviderDouble(answers);
  const baseUrl = double.baseUrl.replace("//", "//user:password@") + "?token=query-secret";
  for (const _ of answers) {
    const error = await assertRejects(
      () => providerOf({ baseUrl }).complete(REQUEST),
      ProviderError,
    );
    const shown = error.message + JSON.stringify(error.provider);
    assertEquals(shown.match(/secret-key|query-secret|user:|password/g), null, shown);
  }
});

Deno.test("a key that comes in two pieces is not shown of an answer that is no stream", async () => {
  const body = ReadableStream.from(["The key secret-", "key is wrong."]).pipeThrough(
    new TextEncoderStream(),
  );
  const answer = new Response(body, { headers: { "content-type": "text/plain" } });
  const provider = providerOf({ baseUrl: "http://hub/v1" }, {
    fetch: () => Promise.resolve(answer),
  });
  const error = await assertRejects(() => WAYS.stream(provider), ProviderError);
  assertStringIncludes(error.message, 'begins with "The key [secret] is wrong."');
});

Deno.test("an unreadable answer is named by its status, content type and first characters", async () => {
  const cases: [Answer, string][] = [
    [
      raw("<html>\n  <h1>Sign\u0007 in</h1>", { headers: { "content-type": "text/html" } }),
      '(status 200, text/html, begins with "<html> <h1>Sign in</h1>")',
    ],
    [
      raw("x".repeat(1000), { headers: { "content-type": "application/json" } }),
      `(status 200, application/json, begins with "${"x".repeat(199)}…")`,
    ],
    [
      raw("{", { headers: { "content-type": `application/json; ${"x".repeat(1000)}` } }),
      `(status 200, application/json; ${"x".repeat(181)}…, begins with "{")`,
    ],
    [
      raw("", { headers: { "content-type": "application/json" } }),
      "(status 200, application/json, empty)",
    ],
    [
      json({ result: { message: "busy" } }),
      'begins with "{\\"result\\":{\\"message\\":\\"busy\\"}}")',
    ],
  ];
  for (const [answer, expected] of cases) {
    for (const way of ["complete", "stream"] as const) {
      const error = await failure(answer, (double) => WAYS[way](providerOf(double)));
      assertEquals(error.failure, { kind: "unreadable" });
      assertStringIncludes(error.message, expected);
    }
  }
});

Deno.test("the words of an error that never ends, or is endless, are what came of them", async () => {
  const endless: Answer = () => {
    const bytes = new TextEncoder().encode("no ".repeat(10_000));
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) });
    return new Response(body, { status: 400, headers: { "content-type": "text/plain" } });
  };
  const error = await failure(endless, (double) => providerOf(double).complete(REQUEST));
  assertEquals(error.status, 400);
  assertEquals(error.provider?.message.length, 2000);
});

const SOON = { headers: { "retry-after-ms": "1" } };
for (const way of ["complete", "stream"] as const) {
  Deno.test(`${way}: what was tried again says so to clients, and what was not does not`, async () => {
    const ask = (retries: number) =>
      failure(errorStatus(500, SOON), (double) => WAYS[way](providerOf(double, { retries })));
    assertEquals((await ask(1)).headers["x-should-retry"], "false");
    assertEquals((await ask(0)).headers["x-should-retry"], undefined);
  });
}

Deno.test("clients may repeat what was not paid for: a page of a gateway, an unreadable list", async () => {
  const unreadable = `{"choices": "none", "data": "none"}`;
  const page = "\n<!doctype html><title>Busy</title>";
  const cases: [way: keyof typeof WAYS, body: string, advice?: string][] = [
    ["complete", unreadable, "false"],
    ["stream", unreadable, "false"],
    ["listModels", unreadable],
    ["complete", page],
    ["stream", page],
    ["listModels", page],
  ];
  for (const [way, body, advice] of cases) {
    const error = await failure(
      () => new Response(body),
      (double) => WAYS[way](providerOf(double)),
    );
    assertEquals(error.failure, { kind: "unreadable" });
    assertEquals(error.headers["x-should-retry"], advice, `${way} ${body}`);
  }
});

Deno.test("redirects in a circle are called that, whether their address is relative or not", async () => {
  for (const start of ["", "http://127.0.0.1"]) {
    const circle: Answer = ({ headers }) => {
      const origin = start && `http://${headers.get("host")}`;
      const location = `${origin}/v1/chat/completions`;
      return new Response(null, { status: 307, headers: { location } });
    };
    await using double = await startProviderDouble(circle);
    const error = await assertRejects(() => hubOf(double).complete(REQUEST), ProviderError);
    assertStringIncludes(error.message, "it redirects in a circle (307); check its address");
    assertEquals(double.requests.length, 6);
  }
});

Deno.test("a redirect that is not followed says where it leads, without its path and query", async () => {
  const location = "https://login.example/secret-path?token=secret-query";
  const answer = raw("Moved: secret-path", { status: 302, headers: { location } });
  for (const way of ["complete", "stream"] as const) {
    const error = await failure(answer, (double) => WAYS[way](hubOf(double)));
    assertEquals([error.status, error.code], [502, "provider_error"]);
    assertStringIncludes(
      error.message,
      "it redirects to https://login.example (302), which is not",
    );
    assertEquals(error.message.includes("secret"), false);
  }
});

Deno.test("an answer over the limit is called that", async () => {
  const piece = new Uint8Array(1024 * 1024).fill(32);
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
  const answer = () => new Response(endless(), { headers: { "content-type": "application/json" } });
  const error = await failure(answer, (double) => WAYS.complete(providerOf(double)));
  assertStringIncludes(error.message, "its answer is over 32 MB");
});
