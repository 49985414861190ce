import { assert, assertEquals } from "@std/assert";
import { failure, providerOf, REQUEST } from "../../fakes/openai_provider.ts";
import { errorStatus } from "../../fakes/provider_double.ts";

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
  assert(seconds > 3000 && seconds <= 3600, `${seconds}`);
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
