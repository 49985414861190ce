import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { isAbort } from "../../../shared/errors.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { HELD_MS, holdTimeouts } from "../../fakes/held_timeouts.ts";
import { until } from "../../fakes/until.ts";
import { providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  hang,
  partial,
  type ProviderDouble,
  raw,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const HI = { choices: [{ delta: { content: "Hi" } }] };

const SOON = { headers: { "retry-after-ms": "1" } };
for (const status of [408, 409, 429, 500, 502, 503, 504]) {
  Deno.test(`a ${status} is tried again`, async () => {
    const again = errorStatus(status, SOON);
    await using double = await startProviderDouble([again, again, completion({ content: "Yes." })]);
    const reply = await providerOf(double, { retries: 2 }).complete(REQUEST);
    assertEquals([reply.content, double.requests.length], ["Yes.", 3]);
  });
}

for (const status of [400, 401, 403, 404, 422]) {
  Deno.test(`a ${status} is not tried again`, async () => {
    await using double = await startProviderDouble(errorStatus(status, SOON));
    await assertRejects(() => providerOf(double, { retries: 2 }).complete(REQUEST), ProviderError);
    assertEquals(double.requests.length, 1);
  });
}

Deno.test("a stream is opened again, and then read", async () => {
  await using double = await startProviderDouble([errorStatus(503, SOON), sse(completionChunks())]);
  const deltas = await Array.fromAsync(providerOf(double, { retries: 1 }).stream(REQUEST));
  assertEquals([deltas.at(-1)?.type, double.requests.length], ["reply", 2]);
});

Deno.test("a stream that has begun is not tried again", async () => {
  await using double = await startProviderDouble(sse([HI], { end: "cut" }));
  const stream = providerOf(double, { retries: 2 }).stream(REQUEST);
  await assertRejects(() => Array.fromAsync(stream), ProviderError);
  assertEquals(double.requests.length, 1);
});

Deno.test("an unreadable answer is not asked for again", async () => {
  const malformed = raw("<html>", { headers: { "content-type": "application/json" } });
  await using double = await startProviderDouble(malformed);
  await assertRejects(() => providerOf(double, { retries: 2 }).complete(REQUEST), ProviderError);
  assertEquals(double.requests.length, 1);
});

Deno.test("a connection failure is tried again", async () => {
  const cut = partial(["{"], { end: "cut" });
  await using double = await startProviderDouble([cut, completion({ content: "Yes." })]);
  const reply = await providerOf(double, { retries: 1 }).complete(REQUEST);
  assertEquals([reply.content, double.requests.length], ["Yes.", 2]);
});

Deno.test("the retries end, and the last failure is reported", async () => {
  await using double = await startProviderDouble(errorStatus(429, SOON));
  const error = await assertRejects(
    () => providerOf(double, { retries: 2 }).complete(REQUEST),
    ProviderError,
  );
  assertEquals([error.code, error.headers["retry-after"]], ["rate_limited", "1"]);
  assertEquals(double.requests.length, 3);
});

const FAR_OFF: Record<string, string>[] = [
  { "retry-after": "3600" },
  { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() },
  { "retry-after-ms": "3600000" },
];
for (const headers of FAR_OFF) {
  for (const [status, code] of [[429, "rate_limited"], [503, "provider_error"]] as const) {
    const [[name, value] = []] = Object.entries(headers);
    Deno.test(`a ${status} with ${name}: ${value}, past the timeout, fails at once`, async () => {
      await using double = await startProviderDouble(errorStatus(status, { headers }));
      const error = await assertRejects(
        () => providerOf(double, { retries: 2 }).complete(REQUEST),
        ProviderError,
      );
      assertEquals([error.code, double.requests.length], [code, 1]);
    });
  }
}

Deno.test("a provider's x-should-retry is obeyed", async () => {
  await using double = await startProviderDouble([
    errorStatus(400, { headers: { "x-should-retry": "true", "retry-after-ms": "1" } }),
    errorStatus(500, { headers: { "x-should-retry": "false" } }),
  ]);
  const error = await assertRejects(
    () => providerOf(double, { retries: 5 }).complete(REQUEST),
    ProviderError,
  );
  assertEquals(error.failure, { kind: "status", status: 500 });
  assertEquals(double.requests.length, 2);
});

const SILENT: Record<string, Answer> = {
  "never answers": hang(),
  "stops inside a body": partial(['{"choices": ['], { end: "hang" }),
  "stops inside a stream": sse([HI], { end: "hang" }),
};
/** Ever longer, until a machine that is busy has time enough to send what is expected. */
const TIMEOUTS_MS = [50, 200, 800, 3_200, 12_800];

/** How a call ends that sent its request in time. */
async function timeoutOf(
  way: typeof WAYS[keyof typeof WAYS],
  double: ProviderDouble,
): Promise<ProviderError> {
  for (const timeoutMs of TIMEOUTS_MS) {
    const provider = providerOf(double, { timeoutMs, retries: 2 });
    const error = await assertRejects(() => way(provider), ProviderError);
    if (double.requests.length > 0) return error;
  }
  throw new Error("no request was sent in time");
}

for (const [what, answer] of Object.entries(SILENT)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a provider that ${what} times out, and is hung up on`, async () => {
      await using double = await startProviderDouble(answer);
      const error = await timeoutOf(WAYS[way], double);
      assertEquals([error.status, error.code], [504, "provider_timeout"]);
      assertEquals(error.failure, { kind: "timeout" });
      assertMatch(error.message, /^cannot .+: it did not answer in time$/);
      await double.aborted();
      assertEquals(double.requests.length, 1);
    });
  }
}

Deno.test("the timeout covers all retries of a completion together", async () => {
  const busy = errorStatus(503, SOON);
  for (const timeoutMs of TIMEOUTS_MS) {
    await using double = await startProviderDouble([busy, busy, hang()]);
    const error = await assertRejects(
      () => providerOf(double, { timeoutMs, retries: 9 }).complete(REQUEST),
      ProviderError,
    );
    assertEquals(error.code, "provider_timeout");
    if (double.requests.length < 3) continue;
    return assertEquals(double.requests.length, 3);
  }
  throw new Error("the retries were not sent in time");
});

Deno.test("time that the reader of a stream takes is not the provider's", async () => {
  using timeouts = holdTimeouts();
  await using double = await startProviderDouble(sse(completionChunks()));
  const provider = providerOf(double, { timeoutMs: HELD_MS, streamTimeoutMs: 2 * HELD_MS });
  const types: string[] = [];
  for await (const delta of provider.stream(REQUEST)) {
    if (types.length === 0) { // the whole time passes here
      timeouts.hangs();
      await until(() => timeouts.running === 0, { within: 5_000 });
    }
    types.push(delta.type);
  }
  assertEquals(types, ["text", "text", "reply"]);
});

for (const [what, answer] of Object.entries(SILENT)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a caller that leaves hangs up on a provider that ${what}`, async () => {
      await using double = await startProviderDouble(answer);
      const caller = new AbortController();
      const asked = WAYS[way](providerOf(double, { retries: 2 }), { signal: caller.signal });
      double.received().then(() => caller.abort());
      const error = await assertRejects(() => asked);
      assert(isAbort(error), String(error));
      await double.aborted();
      assertEquals(double.requests.length, 1);
    });
  }
}

for (const way of ["complete", "stream", "listModels"] as const) {
  Deno.test(`${way}: a caller that has left already costs no request`, async () => {
    await using double = await startProviderDouble(completion());
    const error = await assertRejects(() =>
      WAYS[way](providerOf(double), { signal: AbortSignal.abort() })
    );
    assert(isAbort(error), String(error));
    assertEquals(double.requests.length, 0);
  });
}

Deno.test("leaving is an AbortError, whatever reason the signal has", async () => {
  await using double = await startProviderDouble(hang());
  const signal = AbortSignal.abort(new Error("some reason"));
  assert(isAbort(await assertRejects(() => providerOf(double).complete(REQUEST, { signal }))));
});

Deno.test("a call that has ended leaves nothing on the caller's signal", async () => {
  await using double = await startProviderDouble([completion(), completion()]);
  const caller = new AbortController();
  const provider = providerOf(double);
  await provider.complete(REQUEST, { signal: caller.signal });
  caller.abort();
  assertEquals((await provider.complete(REQUEST)).content, "Hello there.");
});

const ENDINGS: Record<string, Answer> = {
  "an answer": completion(),
  "a stream": sse(completionChunks()),
  "a stream that ends early": sse([HI], { end: "close" }),
  "an error": errorStatus(500),
};
for (const [what, answer] of Object.entries(ENDINGS)) {
  for (const way of ["complete", "stream"] as const) {
    Deno.test({
      name: `${way}: no timer is left behind by ${what}`,
      async fn() {
        await using double = await startProviderDouble(answer);
        await WAYS[way](providerOf(double)).catch(() => {});
        assert(double.requests.length > 0); // the timers are checked by Deno
      },
    });
  }
}
