import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { z } from "zod";
import { commonVariables, ConfigError, parseConfig } from "../../../shared/service/config.ts";
import type { Connection } from "../../../shared/http/connection.ts";
import { createService } from "../../../shared/http/service.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { about, routesOf } from "../../fakes/routes.ts";
import { shiftClock } from "../../fakes/shifted_clock.ts";
// rate-limiter-flexible has a timer per caller, for the whole window
import { test } from "../../fakes/leaky.ts";

const Common = z.object(commonVariables);

function serviceOf(environment: Record<string, string>) {
  const service = createService(routesOf({ "GET /": () => new Response("ok") }), {
    about,
    config: parseConfig(Common, environment),
    log: silentLogger,
  });
  return async (address: string, headers: Record<string, string> = {}) => {
    const connection: Connection = { address, onClose: () => {} };
    const response = await service(new Request("http://127.0.0.1/", { headers }), connection);
    await response.body?.cancel();
    return { status: response.status, headers: response.headers };
  };
}

test("a rate is a number of requests per second, minute, hour or day", () => {
  const rateOf = (text: string) => parseConfig(Common, { RATE_LIMIT: text }).RATE_LIMIT;
  assertEquals(rateOf("60/min"), { requests: 60, seconds: 60 });
  assertEquals(rateOf(" 5/s "), { requests: 5, seconds: 1 });
  assertEquals(rateOf("1000/day"), { requests: 1000, seconds: 86_400 });
  for (const text of ["60", "0/min", "60/week", "-1/s", "1.5/s", "60/min/s", "fast"]) {
    const reason = "RATE_LIMIT: must be a rate such as 60/min";
    assertThrows(() => rateOf(text), ConfigError, reason, text);
  }
});

test("an address over its rate gets 429 with retry-after, and others are served", async () => {
  const ask = serviceOf({ RATE_LIMIT: "2/min" });
  const answers = [await ask("10.0.0.1"), await ask("10.0.0.1"), await ask("10.0.0.1")];
  assertEquals(answers.map(({ status }) => status), [200, 200, 429]);
  const remaining = answers.map(({ headers }) =>
    /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]
  );
  assertEquals(remaining, ["1", "0", "0"]);
  const [, , refused] = answers;
  assertEquals(refused?.headers.get("ratelimit-policy"), '"default";q=2;w=60');
  assertMatch(refused?.headers.get("retry-after") ?? "", /^([1-9]|[1-5]\d|60)$/);
  assertEquals((await ask("10.0.0.2")).status, 200);
  assertEquals((await ask("::ffff:10.0.0.1")).status, 429);
});

test("after the clock was set back nobody is told to wait longer than the window", async () => {
  const ask = serviceOf({ RATE_LIMIT: "1/min" });
  await ask("10.0.0.1");
  using _shifted = shiftClock(-1);
  const { status, headers } = await ask("10.0.0.1");
  assertEquals([status, headers.get("retry-after")], [429, "60"]);
  assertEquals(headers.get("ratelimit"), '"default";r=0;t=60');
});

test("an IPv6 caller is counted by its /64", async () => {
  const ask = serviceOf({ RATE_LIMIT: "1/min", TRUSTED_PROXIES: "10.0.0.1" });
  assertEquals((await ask("2001:db8:1:2::1")).status, 200);
  assertEquals((await ask("2001:db8:1:2:ffff:ffff:ffff:ffff")).status, 429);
  assertEquals((await ask("2001:DB8:1:2::3%eth0")).status, 429);
  assertEquals((await ask("2001:db8:1:3::1")).status, 200);
  const forwarded = { "x-forwarded-for": "2001:db8:1:3::9" };
  assertEquals((await ask("10.0.0.1", forwarded)).status, 429);
  assertEquals((await ask("10.0.0.1", { "x-forwarded-for": "unknown" })).status, 200);
});

test("a key is counted by its holder's name, wherever it is used from", async () => {
  const ask = serviceOf({ RATE_LIMIT: "2/min", API_KEYS: "ada:key-1,ada:key-2,bob:key-3" });
  const as = (key: string) => ({ "x-api-key": key });
  assertEquals((await ask("10.0.0.1", as("key-1"))).status, 200);
  assertEquals((await ask("10.0.0.2", as("key-2"))).status, 200);
  assertEquals((await ask("10.0.0.3", as("key-1"))).status, 429);
  assertEquals((await ask("10.0.0.1", as("key-3"))).status, 200);
});

test("guessing keys is limited by address", async () => {
  const ask = serviceOf({ RATE_LIMIT: "2/min", API_KEYS: "the-key" });
  const guess = async (key: string) => (await ask("10.0.0.9", { "x-api-key": key })).status;
  assertEquals([await guess("a"), await guess("b"), await guess("c")], [401, 401, 429]);
});

test("behind a trusted proxy the caller is the one that the proxy names", async () => {
  const ask = serviceOf({ RATE_LIMIT: "1/min", TRUSTED_PROXIES: "10.0.0.1,10.0.0.2" });
  const through = async (address: string, forwarded: string) =>
    (await ask(address, { "x-forwarded-for": forwarded })).status;
  assertEquals(await through("10.0.0.1", "203.0.113.5"), 200);
  assertEquals(await through("10.0.0.1", "203.0.113.6"), 200);
  assertEquals(await through("10.0.0.2", "203.0.113.5, 10.0.0.1"), 429);
  assertEquals(await through("10.0.0.1", "1.2.3.4, 203.0.113.5"), 429, "a caller wrote the first");
  assertEquals(await through("203.0.113.9", "203.0.113.77"), 200);
  assertEquals(await through("203.0.113.9", "203.0.113.78"), 429, "it is no proxy of ours");
});

test("the port that a proxy writes behind an address makes no other caller", async () => {
  const ask = serviceOf({ RATE_LIMIT: "1/min", TRUSTED_PROXIES: "10.0.0.1,10.0.0.2" });
  const through = async (forwarded: string) =>
    (await ask("10.0.0.1", { "x-forwarded-for": forwarded })).status;
  assertEquals(await through("203.0.113.5:50123"), 200);
  assertEquals(await through("203.0.113.5:50124"), 429);
  assertEquals(await through("203.0.113.5, 10.0.0.2:443"), 429);
  assertEquals(await through("[2001:db8:1:2::1]:50123"), 200);
  assertEquals(await through("[2001:db8:1:2::2]:50124"), 429);
  assertEquals(await through("2001:db8:1:2::3"), 429);
  assertEquals(await through("[2001:db8:1:2::4]"), 429);
  assertEquals(await through("[::ffff:203.0.113.5]:50125"), 429);
});

test("without RATE_LIMIT no caller is counted", async () => {
  const ask = serviceOf({});
  const { status, headers } = await ask("10.0.0.1");
  assertEquals([status, headers.has("ratelimit")], [200, false]);
});
