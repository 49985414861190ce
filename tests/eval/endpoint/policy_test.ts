import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { EvalConfig, requireSafeEvalExposure } from "../../../eval/config.ts";
import { createEndpointPolicy } from "../../../eval/endpoint/policy.ts";
import { ConfigError, parseConfig } from "../../../shared/config/config.ts";
import { AppError } from "../../../shared/errors.ts";

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
  assertEquals(resolved, []); // what is listed is not even looked up
  await policy.requireReachable("http://public.example/v1");
  for (const endpoint of ["http://inside.example/v1", "http://10.0.0.9/v1", "http://[::1]/"]) {
    const error = await assertRejects(() => policy.requireReachable(endpoint), AppError);
    assertEquals([error.status, error.code], [403, "endpoint_not_allowed"], endpoint);
  }
});
