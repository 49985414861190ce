import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { bareFailure, hiddenFailure, readStart } from "../../../shared/providers/openai_answer.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { diagnose, diagnoseConnection } from "../../../shared/providers/diagnosis.ts";
import { toProviderError } from "../../../shared/providers/failure.ts";
import { ProviderError, type ProviderFailure } from "../../../shared/providers/provider.ts";
import { failure, hubOf, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  errorStatus,
  json,
  partial,
  type ProviderDouble,
  raw,
  startProviderDouble,
} from "../../fakes/provider_double.ts";
import { startSelfSignedServer } from "../../fakes/self_signed_server.ts";

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

/** What is read of an answer whose connection breaks after these pieces. */
function startOfCut(...pieces: string[]): Promise<string> {
  const source = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream({
    pull(controller) {
      const piece = source.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(new Error("reset"));
    },
  });
  return readStart(new Response(body));
}

Deno.test("of an answer that is cut the last word is not read: it may be half a secret", async () => {
  assertEquals(await startOfCut("The key ", "sk-0123"), "The key …");
  assertEquals(await startOfCut("Bad gateway\n"), "Bad gateway\n");
  const long = await startOfCut(`${"x".repeat(65_530)} sk-0123`, "456");
  assertEquals(long, `${"x".repeat(65_530)} …`);
});

Deno.test("an answer that comes whole is read whole, and so is JSON of a connection that breaks", async () => {
  assertEquals(await readStart(new Response("No such model")), "No such model");
  assertEquals(await startOfCut('{"error":', '"too long"}'), '{"error":"too long"}');
});

/** A free port of loopback. */
function closedPort(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}/v1`;
}

const UNREACHABLE: Record<string, [(double: ProviderDouble) => string, why: string, RegExp]> = {
  "refuses the connection": [() => closedPort(), "refused", /the connection was refused/],
  "has no address": [() => "http://nobody.invalid/v1", "dns", /cannot be resolved \(DNS\)$/],
  "does not speak TLS": [
    ({ baseUrl }) => baseUrl.replace("http:", "https:"),
    "tls",
    /the TLS handshake failed$/,
  ],
};
for (const [what, [address, why, reason]] of Object.entries(UNREACHABLE)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a provider that ${what} is unreachable`, async () => {
      const error = await failure(
        completion(),
        (double) => WAYS[way](providerOf({ baseUrl: address(double) })),
      );
      assertEquals([error.status, error.code], [502, "provider_error"]);
      assertEquals<unknown>(error.failure, { kind: "unreachable", why });
      assertMatch(error.message, reason);
      assertInstanceOf(error.cause, Error);
    });
  }
}

Deno.test("a self-signed certificate is reported as such, with the variable that helps", async () => {
  await using server = await startSelfSignedServer();
  const error = await assertRejects(() => providerOf(server).complete(REQUEST), ProviderError);
  assertEquals(error.failure, { kind: "unreachable", why: "untrusted" });
  assertStringIncludes(error.message, "self-signed or of an unknown CA; set DENO_CERT");
});

const NODE_ERRORS: [code: string, failure: ProviderFailure][] = [
  ["ECONNREFUSED", { kind: "unreachable", why: "refused" }],
  ["ENOTFOUND", { kind: "unreachable", why: "dns" }],
  ["EAI_AGAIN", { kind: "unreachable", why: "dns" }],
  ["EHOSTUNREACH", { kind: "unreachable", why: "route" }],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", { kind: "unreachable", why: "untrusted" }],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { kind: "unreachable", why: "untrusted" }],
  ["CERT_HAS_EXPIRED", { kind: "unreachable", why: "expired" }],
  ["ERR_TLS_CERT_ALTNAME_INVALID", { kind: "unreachable", why: "other_name" }],
  ["EPROTO", { kind: "unreachable", why: "tls" }],
  ["ECONNRESET", { kind: "interrupted", why: "reset" }],
  ["ETIMEDOUT", { kind: "timeout" }],
  ["UND_ERR_SOCKET", { kind: "interrupted" }],
];
for (const [code, expected] of NODE_ERRORS) {
  Deno.test(`a socket's ${code} is ${Object.values(expected).join(", ")}`, () => {
    const cause = Object.assign(new Error("socket"), { code });
    assertEquals(diagnoseConnection(new TypeError("fetch failed", { cause })), expected);
  });
}

Deno.test("a connection that is reset, before the answer or while it is made, was reset", () => {
  const words = "error sending request for url (http://host/): client error";
  for (const where of ["(SendRequest): connection error", "(Connect): tls handshake"]) {
    const message = `${words} ${where}: Connection reset by peer (os error 104)`;
    assertEquals(diagnoseConnection(new TypeError(message)), { kind: "interrupted", why: "reset" });
  }
});

Deno.test("a connection that is closed inside the body was interrupted", async () => {
  const answer = partial(['{"choices": ['], { end: "cut" });
  const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
  assertEquals([error.status, error.code], [502, "provider_error"]);
  assertEquals(error.failure, { kind: "interrupted" });
});

Deno.test("a connection that takes too long to make is a timeout", () => {
  const message = "error sending request for url (https://host/): client error (Connect): " +
    "tcp connect error: Connection timed out (os error 110)";
  assertEquals(diagnoseConnection(new TypeError(message)), { kind: "timeout" });
});

const WAITS: [headers: Record<string, string>, seconds: string | undefined][] = [
  [{}, undefined],
  [{ "retry-after": "7" }, "7"],
  [{ "retry-after": "0" }, "1"],
  [{ "retry-after": "1.2" }, "2"],
  [{ "retry-after": "5, 5" }, "5"],
  [{ "retry-after-ms": "2500", "retry-after": "9" }, "3"],
  [{ "retry-after": new Date(Date.now() - 60_000).toUTCString() }, "1"],
  [{ "retry-after": "soon" }, undefined],
];
for (const [headers, seconds] of WAITS) {
  Deno.test(`429 with ${JSON.stringify(headers)} tells callers to wait ${seconds} s`, async () => {
    const answer = errorStatus(429, { headers });
    const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
    assertEquals(error.headers["retry-after"], seconds);
  });
}

Deno.test("429 with a date tells callers to wait until then", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const answer = errorStatus(429, { headers: { "retry-after": date } });
  const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
  const seconds = Number(error.headers["retry-after"]);
  assert(seconds > 3000 && seconds <= 3601, `${seconds}`); // dates are in whole seconds
});

Deno.test("a date to wait until is read by the clock of the provider that sends it", async () => {
  const now = Date.now() - 3_600_000; // the clock of the provider is an hour late
  const headers = {
    date: new Date(now).toUTCString(),
    "retry-after": new Date(now + 30_000).toUTCString(),
  };
  const answer = errorStatus(429, { headers });
  const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
  assertEquals(error.headers["retry-after"], "30");
});

const response = new Response();

/** The status that an error with status 200 stands for; `undefined` if it is not an error. */
function statusOf(
  find: typeof hiddenFailure,
  value: unknown,
): number | undefined {
  const failure = find(response, value)?.diagnosis.failure;
  return failure?.kind === "status" ? failure.status : undefined;
}

const REPLY = { message: { role: "assistant", content: "Hi" } };

/** The message and status of an answer; `undefined` if it is not an error. */
const ANSWERS: [answer: unknown, status: number | undefined][] = [
  [{ error: { code: 429 } }, 429],
  [{ error: { status: "503" } }, 503],
  [{ error: { code: 200 }, status: 404 }, 404],
  [{ error: { code: 399 } }, 500],
  [{ error: { code: 600 } }, 500],
  [{ error: { code: 599 } }, 599],
  [{ error: { code: "rate_limit_exceeded" } }, 429],
  [{ error: { type: "authentication_error" } }, 401],
  [{ error: { code: "context_length_exceeded" } }, 400],
  [{ error: "it failed" }, 500],
  [[{ error: { code: 400 } }], 400],
  [{ choices: [{ error: { code: 502 } }] }, 502],
  [{ choices: [{ ...REPLY, error: { code: 502 } }] }, 502],
  [{ choices: [REPLY] }, undefined],
  [{ choices: [REPLY], error: { code: 502 } }, undefined],
  [{ choices: [], error: null }, undefined],
  [{}, undefined],
  ["error", undefined],
];

Deno.test("an error with status 200 has the status that it tells, in numbers or in words", () => {
  for (const [answer, status] of ANSWERS) {
    assertEquals(statusOf(hiddenFailure, answer), status, JSON.stringify(answer));
  }
});

/** The same of answers that are an error as a whole. */
const BARE: [answer: unknown, status: number | undefined][] = [
  [{ object: "error", message: "no such model", code: 404 }, 404],
  [{ type: "Error", code: 429 }, 429],
  [{ detail: "Not Found" }, 500],
  [{ object: "error", code: 400, choices: [REPLY] }, undefined],
  [{ type: "error", code: 400, content: "Hi" }, undefined],
  [{ object: "errors", code: 400 }, undefined],
  [{ object: "chat.completion", code: 400 }, undefined],
  [{ detail: "" }, undefined],
  [{}, undefined],
];

Deno.test("an answer that is an error as a whole is one, unless it has a reply", () => {
  for (const [answer, status] of BARE) {
    assertEquals(statusOf(bareFailure, answer), status, JSON.stringify(answer));
  }
});

Deno.test("an answer that is packed in an unknown way is not shown as text", () => {
  const headers = new Headers({ "content-encoding": "gzip, gzip, gzip" });
  const answer = { status: 200, headers, body: "\x1f\x8b\b" };
  const { message } = toProviderError({ provider: "hub", model: "m" }, {
    failure: { kind: "unreadable" },
    answer,
  });
  assertStringIncludes(message, 'packed as "gzip, gzip, gzip"');
});

Deno.test("an address that is not public is named as the reason, also if it is found while connecting", () => {
  const refused = new AppError(403, "endpoint_not_allowed", "cannot reach x");
  const { message } = toProviderError({ provider: "hub", model: "m" }, diagnose(refused));
  assertStringIncludes(message, "its address is not public");
});
