import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { AgentConfig } from "../../agent/config.ts";
import { AgentRequest } from "../../agent/core/agent_message.ts";
import { EvalConfig } from "../../eval/config.ts";
import { evaluateRequest } from "../../eval/test/evaluate_request.ts";
import {
  address,
  callerKeys,
  commonVariables,
  ConfigError,
  explainIdleVariables,
  explainQuotedVariables,
  headerKey,
  integer,
  list,
  parseConfig,
  readEnvironment,
  requireSafeExposure,
  stringMap,
} from "../../shared/service/config.ts";
import { listFieldErrors } from "../../shared/service/field_errors.ts";
import { startCli } from "../fakes/cli_process.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";
import { runServiceCommand, startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

const Common = z.object(commonVariables);

Deno.test("an empty environment gives the defaults", () => {
  assertEquals(parseConfig(Common, {}), {
    HOST: "127.0.0.1",
    AGENT_PORT: 8000,
    EVAL_PORT: 8080,
    API_KEYS: [],
    CORS_ORIGINS: ["http://localhost:*", "http://127.0.0.1:*"],
    TRUSTED_PROXIES: [],
    MAX_BODY_BYTES: 8_388_608,
    MODEL_TIMEOUT_MS: 120_000,
    MODEL_RETRIES: 2,
    SHUTDOWN_GRACE_MS: 10_000,
    LOG_LEVEL: "info",
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
  });
});

Deno.test("an empty value counts as unset", () => {
  const config = parseConfig(Common, { HOST: "", MODEL_RETRIES: "  ", LOG_FORMAT: undefined });
  assertEquals([config.HOST, config.MODEL_RETRIES], ["127.0.0.1", 2]);
});

Deno.test("every bad value is named, all in one message", () => {
  const environment = { MODEL_RETRIES: "many", LOG_LEVEL: "loud", MAX_BODY_BYTES: "0" };
  const { message } = assertThrows(() => parseConfig(Common, environment), ConfigError);
  for (const name of Object.keys(environment)) assertStringIncludes(message, name);
});

Deno.test("blanks and a line end of Windows around a value do not count", () => {
  const config = parseConfig(Common, { LOG_LEVEL: " warn\r", MODEL_RETRIES: "3\r" });
  assertEquals([config.LOG_LEVEL, config.MODEL_RETRIES], ["warn", 3]);
});

Deno.test("what is not a whole number is said so, and quotes around it are named", () => {
  for (const MAX_BODY_BYTES of ["8MB", "2.5", "1_000", '"8000"']) {
    const error = assertThrows(() => parseConfig(Common, { MAX_BODY_BYTES }), ConfigError);
    assertStringIncludes(error.message, "MAX_BODY_BYTES: must be a whole number");
    assertEquals(error.message.includes("has quotes as a part"), MAX_BODY_BYTES === '"8000"');
  }
});

Deno.test("a number outside of its range is refused with the range", () => {
  const { message } = assertThrows(
    () =>
      parseConfig(Common, {
        MODEL_RETRIES: "11",
        MAX_BODY_BYTES: "0",
        SHUTDOWN_GRACE_MS: "2147483648",
      }),
    ConfigError,
  );
  assertStringIncludes(message, "MODEL_RETRIES: must be a whole number from 0 to 10");
  assertStringIncludes(message, "MAX_BODY_BYTES: must be a whole number of 1 or more");
  assertStringIncludes(message, "SHUTDOWN_GRACE_MS: must be a whole number from 0 to 2147483647");
});

Deno.test("HOST is an address or a name: a URL, a port or a wildcard is named as the fault", () => {
  for (const HOST of ["0.0.0.0", "::", "fe80::1%eth0", "localhost", "db-1.internal", "my_host."]) {
    assertEquals(parseConfig(Common, { HOST }).HOST, HOST);
  }
  for (
    const HOST of ["http://127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "*", "a b", "10.0.0.0/8"]
  ) {
    assertThrows(() => parseConfig(Common, { HOST }), ConfigError, "HOST: must be an IP address");
  }
});

Deno.test("HOST may have the brackets of an address, and blanks around it", () => {
  assertEquals(parseConfig(Common, { HOST: " [::1] " }).HOST, "::1");
});

Deno.test("each kind of variable is parsed", () => {
  const Kinds = z.object({ N: integer(5), L: list(["x"]), U: address(), M: stringMap() });
  assertEquals(
    parseConfig(Kinds, { N: "0", L: " a, b ,,c", U: "http://h/v1//", M: '{"a":"b"}' }),
    { N: 0, L: ["a", "b", "c"], U: "http://h/v1", M: { a: "b" } },
  );
  assertEquals(parseConfig(Kinds, {}), { N: 5, L: ["x"] });
  for (const bad of [{ N: "1.5" }, { N: "-1" }, { U: "h/v1" }, { U: "file:///x" }, { M: "[]" }]) {
    assertThrows(() => parseConfig(Kinds, bad), ConfigError, Object.keys(bad)[0]);
  }
});

Deno.test("TRUSTED_PROXIES takes addresses, in the form in which sockets report them", () => {
  const parse = (TRUSTED_PROXIES: string) =>
    parseConfig(Common, { TRUSTED_PROXIES }).TRUSTED_PROXIES;
  assertEquals(parse("10.0.0.1, 2001:DB8:0::1, [::1], ::ffff:10.0.0.2"), [
    "10.0.0.1",
    "2001:db8::1",
    "::1",
    "10.0.0.2",
  ]);
  for (const entry of ["foo", "127.0.0.0/8", "10.0.0.300", "10.1", "::1/64", "1.2.3.4:80", "a:b"]) {
    const { message } = assertThrows(() => parse(`10.0.0.1,${entry}`), ConfigError);
    assertStringIncludes(message, `TRUSTED_PROXIES: "${entry}" is not an IP address`);
  }
});

const NOT_HEADERS = ["“planted-key”", "planted\nkey", "ключ-planted", "planted\u0000key"];

Deno.test("a key that cannot be sent in a header stops the start, and is not shown", () => {
  const Keys = z.object({ HUB_KEY: headerKey().optional(), API_KEYS: commonVariables.API_KEYS });
  for (const key of NOT_HEADERS) {
    const { message } = assertThrows(() => parseConfig(Keys, { HUB_KEY: key }), ConfigError);
    assertStringIncludes(message, "HUB_KEY: cannot be sent in a header");
    const keys = assertThrows(
      () => parseConfig(Keys, { API_KEYS: `good,ada:${key}` }),
      ConfigError,
    );
    assertStringIncludes(keys.message, "API_KEYS: key 2 cannot be sent in a header");
    assert(!`${message}${keys.message}`.includes("planted"));
  }
  assertEquals(parseConfig(Keys, { HUB_KEY: " sk-1 é\n" }).HUB_KEY, "sk-1 é");
});

Deno.test("a service on a network needs keys, or an explicit API_KEYS=none", () => {
  const exposed = parseConfig(Common, { HOST: "0.0.0.0" });
  assertThrows(() => requireSafeExposure(exposed, {}), ConfigError, "API_KEYS");
  requireSafeExposure(parseConfig(Common, { HOST: "0.0.0.0", API_KEYS: "k" }), {});
  requireSafeExposure(parseConfig(Common, { HOST: "0.0.0.0", API_KEYS: "none" }), {});
});

Deno.test("the error names all variables that a network service needs", () => {
  const config = parseConfig(Common, { HOST: "::", API_KEYS: "k" });
  assertThrows(() => requireSafeExposure(config, { MORE: false }), ConfigError, "set MORE");
  requireSafeExposure(config, { MORE: true });
});

Deno.test("on loopback nothing further is needed", () => {
  for (const HOST of ["127.0.0.1", "localhost", "::1", "127.9.9.9"]) {
    const config = parseConfig(Common, { HOST });
    assertEquals(requireSafeExposure(config, { MORE: false }), undefined, HOST);
  }
});

Deno.test("none is not a key", () => {
  assertEquals(callerKeys(parseConfig(Common, { API_KEYS: "none" })), []);
  assertEquals(callerKeys(parseConfig(Common, { API_KEYS: "a,b" })), [
    { name: "key-1", key: "a" },
    { name: "key-2", key: "b" },
  ]);
});

const ORIGINS: [entry: string, reason: string | undefined][] = [
  ["*", undefined],
  ["null", undefined],
  ["https://app.example.com", undefined],
  ["https://app.example.com/", undefined],
  ["https://*.example.com", undefined],
  ["http://localhost:*", undefined],
  ["http://[::1]:8000", undefined],
  ["http://a.example:443", undefined],
  ["chrome-extension://abcdef", undefined],
  ["app.example.com", "with its scheme"],
  ["localhost:3000", "with its scheme"],
  ["https://app.example.com/page", "no path"],
  ["https://app.example.com?x=1", "no path"],
  ["https://user@app.example.com", "no path"],
  ["https://app.example.com:443", "browsers leave out port 443"],
  ["http://app.example.com:80", "browsers leave out port 80"],
  ["https://bücher.example", "in ASCII"],
];
for (const [entry, reason] of ORIGINS) {
  const what = reason ? "stops the start: it can never match" : "is an origin";
  Deno.test(`${entry} in CORS_ORIGINS ${what}`, () => {
    const parse = () => parseConfig(Common, { CORS_ORIGINS: `*, ${entry}` });
    if (!reason) assertEquals(parse().CORS_ORIGINS, ["*", entry]);
    else assertStringIncludes(assertThrows(parse, ConfigError).message, reason);
  });
}

Deno.test({
  name: "a .env that the permissions do not cover is as good as none",
  permissions: { read: false, env: true },
  fn: async () =>
    assertEquals(await readEnvironment(z.object({ NO_SUCH: z.string() })), { NO_SUCH: undefined }),
});

type Schema = typeof AgentConfig | typeof EvalConfig;

const explain = (schema: Schema, environment: Record<string, string>) =>
  explainIdleVariables(schema, parseConfig(schema, environment));

const NO_JUDGE = "JUDGE_MODEL has no effect: JUDGE_BASE_URL is not set";

Deno.test("a key or a model without its address is named", () => {
  assertEquals(explain(EvalConfig, { JUDGE_MODEL: "m", JUDGE_API_KEY: "k" }), [
    "JUDGE_API_KEY has no effect: JUDGE_BASE_URL is not set",
    NO_JUDGE,
  ]);
  assertEquals(explain(AgentConfig, { HUB_API_KEY: "k", STUDIO_BASE_URL: "http://studio" }), [
    "HUB_API_KEY has no effect: HUB_BASE_URL is not set",
  ]);
});

Deno.test("a configuration that is complete has nothing to explain", () => {
  const judge = { JUDGE_MODEL: "m", JUDGE_API_KEY: "k", JUDGE_BASE_URL: "http://judge" };
  assertEquals(explain(EvalConfig, judge), []);
  assertEquals(explain(EvalConfig, { EVAL_API_KEY: "k" }), []);
  const search = { AGENT_TOOLS: "web_search", TAVILY_API_KEY: "k" };
  assertEquals(explain(AgentConfig, search), []);
});

Deno.test("the check and the start warn of a judge without an address", async () => {
  const environment = { JUDGE_MODEL: "m" };
  const { code, output } = await runServiceCommand("eval", ["--check"], environment);
  assertEquals(code, 0);
  assertStringIncludes(output, `warning: ${NO_JUDGE}`);
  await using service = await startServiceProcess("eval", { environment });
  assertStringIncludes(service.lines.join("\n"), NO_JUDGE);
});

Deno.test("the check of the agent warns of its own settings, too", async () => {
  const { output } = await runServiceCommand("agent", ["--check"], { TAVILY_API_KEY: "k" });
  const warning = "TAVILY_API_KEY has no effect: AGENT_TOOLS does not contain web_search";
  assertStringIncludes(output, `warning: ${warning}`);
});

Deno.test("a run of the command line warns of a judge without an address", () =>
  withFolder(async (cwd) => {
    await using hub = await startProviderDouble(completion({ content: "Hello" }));
    const scenario = { id: "s", interactions: [{ id: "1", user_message: "Hi" }] };
    await Deno.writeTextFile(`${cwd}/batch.json`, JSON.stringify([scenario]));
    const { outcome } = startCli(
      ["run", "batch.json", "--endpoint", hub.baseUrl, "--model", "a/b"],
      { cwd, environment: { JUDGE_MODEL: "m", EVAL_DATA: ":memory:" } },
    );
    assertStringIncludes((await outcome).err, NO_JUDGE);
  }));

Deno.test("a variable whose whole value is in quotes is named, without its value", () => {
  const explained = explainQuotedVariables({
    EVAL_DATA: '"./data/eval.db"',
    STUDIO_MODELS: '\'{"a": "b"}\' ',
    AGENT_SYSTEM_PROMPT: '"Yes" means "oui"',
    PRICES: '{"a": "b"}',
    HUB_API_KEY: "it's",
    HOST: undefined,
  });
  assertEquals(explained, [
    "EVAL_DATA has quotes as a part of its value; remove them",
    "STUDIO_MODELS has quotes as a part of its value; remove them",
  ]);
});

Deno.test("the check warns of a path in quotes, which would be another folder", async () => {
  const environment = { EVAL_DATA: '"./data/eval.db"' };
  const { code, output } = await runServiceCommand("eval", ["--check"], environment);
  assertEquals(code, 0);
  assertStringIncludes(output, "warning: EVAL_DATA has quotes as a part of its value");
});

function errorsOf(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return listFieldErrors(error!, value).map(({ path, message }) => `${path}: ${message}`);
}

const evaluation = { endpoint: "http://model.example/v1", model_id: "m" };

Deno.test("a value that has none of a field's types is refused with these types", () => {
  assertEquals(errorsOf(AgentRequest, { messages: [{ type: "human", content: 5 }] }), [
    "messages.0.content: Invalid input: expected string or array, received number",
  ]);
  assertEquals(errorsOf(evaluateRequest(10), { ...evaluation, test_batch: "greeting" }), [
    "test_batch: Invalid input: expected object or array, received string",
  ]);
});

Deno.test("the errors of a value that has one of a field's types are those of that form", () => {
  const test_batch = { id: "s", interactions: [{ id: "1" }] };
  assertEquals(errorsOf(evaluateRequest(10), { ...evaluation, test_batch }), [
    "test_batch.interactions.0.user_message: is missing",
  ]);
});

Deno.test("a message of the schema's own is kept", () => {
  const schema = z.object({ a: z.union([z.string(), z.number()], { error: "must be short" }) });
  assertEquals(errorsOf(schema, { a: true }), ["a: must be short"]);
});
