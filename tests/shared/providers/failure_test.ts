import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { failure, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  completion,
  errorStatus,
  json,
  partial,
  type ProviderDouble,
  raw,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

/** A loopback port that nobody listens on. */
function closedPort(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}/v1`;
}

const STATUSES: [sent: number, status: number, code: string, reason: string][] = [
  [400, 502, "provider_error", "it answered status 400"],
  [401, 502, "provider_auth", "it rejects the configured credentials (401)"],
  [403, 502, "provider_auth", "it rejects the configured credentials (403)"],
  [404, 404, "model_not_found", "it does not know the model"],
  [405, 502, "provider_error", "it answered status 405"],
  [408, 504, "provider_timeout", "it did not answer in time"],
  [409, 502, "provider_error", "it answered status 409"],
  [422, 502, "provider_error", "it answered status 422"],
  [429, 429, "rate_limited", "rate limited by the provider (429)"],
  [500, 502, "provider_error", "it answered status 500"],
  [503, 502, "provider_error", "it answered status 503"],
  [504, 502, "provider_error", "it answered status 504"],
];
for (const [sent, status, code, reason] of STATUSES) {
  for (const way of ["complete", "stream"] as const) {
    Deno.test(`${way}: a provider's ${sent} becomes ${status} ${code}, in our words`, async () => {
      const error = await failure(errorStatus(sent), (double) => WAYS[way](providerOf(double)));
      assertEquals([error.status, error.code], [status, code]);
      assertEquals(error.failure, { kind: "status", status: sent });
      assertEquals(
        error.message,
        `cannot get a reply from hub for model "acme/model-1": ${reason}`,
      );
      assertStringIncludes(String(error.cause), "raw words of the provider");
    });
  }
}

Deno.test("no message contains a key, the provider's text or parts of its URL", async () => {
  const answers = [
    ...STATUSES.map(([status]) => errorStatus(status, { message: "secret-key raw words" })),
    json({ error: { message: "secret-key raw words" } }),
    raw("<html>secret-key raw words", { headers: { "content-type": "application/json" } }),
  ];
  await using double = await startProviderDouble(answers);
  const baseUrl = double.baseUrl.replace("//", "//user:password@") + "?token=query-secret";
  for (const _ of answers) {
    const error = await assertRejects(() => providerOf({ baseUrl }).complete(REQUEST));
    const { message } = error as Error;
    assertEquals(message.match(/secret|raw|user|password|token|127\.0/g), null, message);
  }
});

const WAITS: [headers: Record<string, string>, seconds: string | undefined][] = [
  [{}, undefined],
  [{ "retry-after": "7" }, "7"],
  [{ "retry-after": "0" }, "1"],
  [{ "retry-after": "1.2" }, "2"],
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
  assert(seconds > 3000 && seconds <= 3600, `${seconds}`);
});

const UNREACHABLE: Record<string, (double: ProviderDouble) => string> = {
  "refuses the connection": () => closedPort(),
  "has no address": () => "http://nobody.invalid/v1",
  "does not speak TLS": (double) => double.baseUrl.replace("http:", "https:"),
};
for (const [what, address] of Object.entries(UNREACHABLE)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a provider that ${what} is unreachable`, async () => {
      const error = await failure(
        completion(),
        (double) => WAYS[way](providerOf({ baseUrl: address(double) })),
      );
      assertEquals([error.status, error.code], [502, "provider_error"]);
      assertEquals(error.failure, { kind: "unreachable" });
      assertMatch(
        error.message,
        /^cannot \S+ .* hub( for model "acme\/model-1")?: the connection failed$/,
      );
      assertInstanceOf(error.cause, Error);
    });
  }
}

Deno.test("a connection that is closed inside the body was interrupted", async () => {
  const answer = partial(['{"choices": ['], { end: "cut" });
  const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
  assertEquals([error.status, error.code], [502, "provider_error"]);
  assertEquals(error.failure, { kind: "interrupted" });
});
