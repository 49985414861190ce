import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { EvalConfig, requireSafeEvalExposure } from "../../../eval/config.ts";
import { createEndpointPace } from "../../../eval/ask/pace.ts";
import { createEndpointPolicy } from "../../../eval/ask/policy.ts";
import { ConfigError, parseConfig } from "../../../shared/service/config.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { evaluateRequestOf, wiredService } from "../../fakes/eval_service.ts";
import { completion, errorStatus, startProviderDouble } from "../../fakes/provider_double.ts";

const LISTED = "https://api.example.com";
const OTHER = "https://elsewhere.example";

const CREDENTIALS: [
  what: string,
  environment: Record<string, string>,
  endpoint: string,
  key: string | undefined,
][] = [
  ["on loopback with nothing listed any endpoint gets the key", { EVAL_API_KEY: "k" }, OTHER, "k"],
  [
    "a listed origin gets the key",
    { EVAL_API_KEY: "k", EVAL_ENDPOINTS: LISTED },
    `${LISTED}/v1`,
    "k",
  ],
  [
    "an origin that only * allows gets no key",
    { EVAL_API_KEY: "k", EVAL_ENDPOINTS: `*,${LISTED}` },
    OTHER,
    undefined,
  ],
  [
    "a name below a listed one gets the key",
    { EVAL_API_KEY: "k", EVAL_ENDPOINTS: "https://*.example.com" },
    "https://a.b.example.com/v1",
    "k",
  ],
  [
    "an origin's own key wins",
    { EVAL_API_KEY: "k", EVAL_CREDENTIALS: `{"${LISTED}": "own"}` },
    LISTED,
    "own",
  ],
  [
    "an origin's own key goes nowhere else",
    { EVAL_CREDENTIALS: `{"${LISTED}": "own"}` },
    OTHER,
    undefined,
  ],
  [
    "another port is another origin",
    { EVAL_CREDENTIALS: `{"${LISTED}": "own"}` },
    `${LISTED}:8443`,
    undefined,
  ],
  [
    "another scheme is another origin",
    { EVAL_CREDENTIALS: `{"${LISTED}": "own"}` },
    "http://api.example.com",
    undefined,
  ],
];

for (const [what, environment, endpoint, key] of CREDENTIALS) {
  Deno.test(what, () => {
    const policy = createEndpointPolicy(parseConfig(EvalConfig, environment));
    assertEquals(policy.credentialFor(endpoint), key);
  });
}

Deno.test("only listed origins may be evaluated if EVAL_ENDPOINTS is set", () => {
  const policy = createEndpointPolicy(parseConfig(EvalConfig, { EVAL_ENDPOINTS: LISTED }));
  policy.requireAllowed(`${LISTED}/v1/chat/completions`);
  const error = assertThrows(() => policy.requireAllowed(`${OTHER}/v1?${LISTED}`), AppError);
  assertEquals([error.status, error.code], [403, "endpoint_not_allowed"]);
});

Deno.test("* allows any endpoint", () => {
  const policy = createEndpointPolicy(parseConfig(EvalConfig, { EVAL_ENDPOINTS: "*" }));
  assertEquals(policy.requireAllowed(OTHER), undefined);
});

Deno.test("a service on the network does not start without keys and listed endpoints", () => {
  const start = (environment: Record<string, string>) => () =>
    requireSafeEvalExposure(parseConfig(EvalConfig, environment));
  start({})();
  start({ HOST: "0.0.0.0", API_KEYS: "k", EVAL_ENDPOINTS: LISTED })();
  start({ HOST: "0.0.0.0", API_KEYS: "none", EVAL_ENDPOINTS: LISTED })();
  assertThrows(start({ HOST: "0.0.0.0" }), ConfigError, "API_KEYS and EVAL_ENDPOINTS");
  assertThrows(start({ HOST: "0.0.0.0", API_KEYS: "k" }), ConfigError, "EVAL_ENDPOINTS");
  assertThrows(start({ HOST: "0.0.0.0", EVAL_ENDPOINTS: LISTED }), ConfigError, "API_KEYS");
});

Deno.test("an invalid value stops the start, and the error names its variable", () => {
  const bad: [string, string][] = [
    ["EVAL_PORT", "http"],
    ["EVAL_CONCURRENCY", "0"],
    ["EVAL_MAX_ATTEMPTS", "-1"],
    ["EVAL_CREDENTIALS", "key"],
    ["EVAL_ENDPOINTS", "api.example.com"],
    ["LOG_LEVEL", "loud"],
  ];
  for (const [name, value] of bad) {
    assertThrows(() => parseConfig(EvalConfig, { [name]: value }), ConfigError, name);
  }
});

Deno.test("https://*.example.com is all its subdomains with that scheme and port, and nothing else", () => {
  const policy = createEndpointPolicy(
    parseConfig(EvalConfig, { EVAL_ENDPOINTS: "https://*.Example.com, https://*.other.test:8443" }),
  );
  for (
    const endpoint of [
      "https://a.example.com",
      "https://a.b.example.com/v1",
      "https://A.EXAMPLE.COM/",
      "https://a.other.test:8443",
    ]
  ) {
    policy.requireAllowed(endpoint);
    assertEquals(policy.isTrusted(endpoint), false); // by pattern: public addresses only
  }
  for (
    const endpoint of [
      "https://example.com",
      "https://evilexample.com",
      "https://a.example.com.evil.test",
      "https://a.example.com:8443",
      "http://a.example.com",
      "https://a.exampleXcom",
      "https://a.other.test",
      "https://evil.test/.example.com",
      "https://evil.test?.example.com",
      "https://evil.test#.example.com",
    ]
  ) {
    assertThrows(() => policy.requireAllowed(endpoint), AppError, "EVAL_ENDPOINTS", endpoint);
    assertEquals(policy.credentialFor(endpoint), undefined);
  }
});

Deno.test("a pattern for a whole top-level domain, or for part of a name, stops the start", () => {
  for (const origin of ["https://*.com", "https://*", "https://a*.example.com", "*.example.com"]) {
    assertThrows(
      () => parseConfig(EvalConfig, { EVAL_ENDPOINTS: origin }),
      ConfigError,
      "EVAL_ENDPOINTS",
    );
  }
});

Deno.test("an origin that is listed literally is trusted, whatever its IP address is", () => {
  const policy = createEndpointPolicy(
    parseConfig(EvalConfig, { EVAL_ENDPOINTS: "*,http://10.0.0.7:8000" }),
  );
  assertEquals(policy.isTrusted("http://10.0.0.7:8000/v1"), true);
  assertEquals(policy.isTrusted("http://10.0.0.8:8000/v1"), false);
});

Deno.test("an endpoint that the caller chose must have a public address; one that is listed need not", async () => {
  const resolved: string[] = [];
  const addresses: Record<string, string> = {
    "inside.example": "10.0.0.8",
    "public.example": "1.1.1.1",
  };
  const resolve = (host: string) => {
    resolved.push(host);
    return Promise.resolve([{ address: addresses[host]!, family: 4 as const }]);
  };
  const listed = "*,http://listed.example,http://10.0.0.7";
  const policy = createEndpointPolicy(parseConfig(EvalConfig, { EVAL_ENDPOINTS: listed }), resolve);
  for (const endpoint of ["http://listed.example/v1", "http://10.0.0.7/v1"]) {
    await policy.requireReachable(endpoint);
  }
  assertEquals(resolved, []); // listed names are not resolved
  await policy.requireReachable("http://public.example/v1");
  for (const endpoint of ["http://inside.example/v1", "http://10.0.0.9/v1", "http://[::1]/"]) {
    const error = await assertRejects(() => policy.requireReachable(endpoint), AppError);
    assertEquals([error.status, error.code], [403, "endpoint_not_allowed"], endpoint);
  }
});

const signal = new AbortController().signal;
const REFUSED = new Error("429");
const isRateLimit = (error: unknown) => error === REFUSED;

/** Calls that the test ends, with success or failure. */
function callsOf(pace: ReturnType<typeof createEndpointPace>) {
  const running: PromiseWithResolvers<void>[] = [];
  async function start(): Promise<void> {
    const call = Promise.withResolvers<void>();
    const begin = () => {
      running.push(call);
      return call.promise;
    };
    await pace.run(begin, { signal, isRateLimit }).catch(() => {});
  }
  return { running, start };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a 429 halves the limit, and a round of them halves it only once", async () => {
  const pace = createEndpointPace(8);
  const { running, start } = callsOf(pace);
  const all = Array.from({ length: 8 }, start);
  await settle();
  running.forEach(({ reject }) => reject(REFUSED));
  await Promise.all(all);
  assertEquals(pace.limit, 4);
});

Deno.test("a round of calls that succeed raises the limit by one, up to the maximum", async () => {
  const pace = createEndpointPace(8);
  const { running, start } = callsOf(pace);
  const refused = start();
  await settle();
  running.shift()!.reject(REFUSED);
  await refused;
  assertEquals(pace.limit, 4);
  const round = Array.from({ length: 4 }, start);
  await settle();
  running.splice(0).forEach(({ resolve }) => resolve());
  await Promise.all(round);
  assert(pace.limit > 4.8 && pace.limit <= 5, `${pace.limit}`);
  for (let call = 0; call < 100; call++) {
    const one = start();
    await settle();
    running.shift()!.resolve();
    await one;
  }
  assertEquals(pace.limit, 8);
});

Deno.test("no more calls are running than the limit, and each that ends lets the next one start", async () => {
  const pace = createEndpointPace(2);
  const { running, start } = callsOf(pace);
  const all = Array.from({ length: 5 }, start);
  await settle();
  assertEquals(running.length, 2);
  running[0]!.resolve();
  await settle();
  assertEquals(running.length, 3);
  running.forEach(({ resolve }) => resolve());
  await settle();
  running.forEach(({ resolve }) => resolve());
  await Promise.all(all);
});

Deno.test("a wait that is aborted does not use up a place", async () => {
  const pace = createEndpointPace(1);
  const { running, start } = callsOf(pace);
  const first = start();
  await settle();
  const leaving = new AbortController();
  const waiting = pace.run(() => Promise.resolve(), { signal: leaving.signal, isRateLimit });
  const last = start();
  leaving.abort();
  await assertRejects(() => waiting, DOMException);
  running[0]!.resolve();
  await settle();
  assertEquals(running.length, 2);
  running[1]!.resolve();
  await Promise.all([first, last]);
});

Deno.test("an endpoint that allows four concurrent calls gets about four, and few of them are refused", async () => {
  const LIMIT = 4;
  const TURNS = 200;
  let underWay = 0;
  let most = 0;
  let refused = 0;
  await using endpoint = await startProviderDouble(async (request) => {
    if (underWay >= LIMIT) {
      refused++;
      return await errorStatus(429, { headers: { "retry-after-ms": "20" } })(request);
    }
    underWay++;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 10));
    underWay--;
    return await completion({ content: "fine" })(request);
  });
  const { service } = wiredService({ EVAL_CONCURRENCY: "64", MODEL_RETRIES: "2" });
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "Hi" }] };
  const response = await service(evaluateRequestOf({
    test_batch,
    endpoint: endpoint.baseUrl,
    model_id: "m",
    attempts: TURNS,
  }));
  const { message } = await response.json();
  assertEquals(message, "Evaluation completed successfully");
  assertEquals(most, LIMIT);
  // 60 concurrent calls, each retried every 20 ms, would be refused about 15 times per answer.
  assert(refused < TURNS, `${refused} refusals for ${TURNS} answers`);
});
