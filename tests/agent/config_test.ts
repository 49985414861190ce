import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { AgentConfig, explainIdleSettings } from "../../agent/config.ts";
import { ConfigError, parseConfig } from "../../shared/config/config.ts";

Deno.test("the agent starts with an empty environment", () => {
  const config = parseConfig(AgentConfig, {});
  assertEquals([config.AGENT_PORT, config.HOST, config.AGENT_MAX_STEPS], [8000, "127.0.0.1", 12]);
  assertEquals([config.HUB_BASE_URL, config.STUDIO_BASE_URL, config.STUDIO_MODELS], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals([config.AGENT_TEMPERATURE, config.AGENT_MAX_TOKENS], [undefined, undefined]);
  assertEquals(config.AGENT_SYSTEM_PROMPT.length > 0, true);
});

Deno.test("port 0 and temperature 0 count as set", () => {
  const config = parseConfig(AgentConfig, { AGENT_PORT: "0", AGENT_TEMPERATURE: "0" });
  assertEquals([config.AGENT_PORT, config.AGENT_TEMPERATURE], [0, 0]);
});

Deno.test("an invalid value stops the start, and the error names its variable", () => {
  const cases: [string, string][] = [
    ["AGENT_PORT", "70000"],
    ["AGENT_PORT", "eighty"],
    ["AGENT_MAX_STEPS", "0"],
    // A timer of more than 2^31 - 1 ms would end at once.
    ["MODEL_TIMEOUT_MS", "2147483648"],
    ["MODEL_STREAM_TIMEOUT_MS", "2147483648"],
    ["BODY_TIMEOUT_MS", "2147483648"],
    ["SHUTDOWN_GRACE_MS", "2147483648"],
    ["WATCHDOG_MS", "2147483648"],
    ["TOOL_TIMEOUT_MS", "2147483648"],
    ["AGENT_MCP_TIMEOUT_MS", "2147483648"],
    ["AGENT_TEMPERATURE", "hot"],
    ["AGENT_TEMPERATURE", "3"],
    ["AGENT_MAX_TOKENS", "1.5"],
    ["HUB_BASE_URL", "ftp://hub"],
    ["STUDIO_BASE_URL", "studio"],
    ["STUDIO_MODELS", "not json"],
    ["STUDIO_MODELS", '{"a": 1}'],
    ["STUDIO_MODELS", '{"a": "not-a-uuid"}'],
    ["HUB_API_KEY", "“k”"],
    ["STUDIO_API_KEY", "a\nb"],
    ["TAVILY_API_KEY", "ключ"],
    ["HUB_BARE_MODELS", "yes"],
    ["MODEL_ALIASES", "fast=acme/small"],
    ["MODEL_ALIASES", '{"fast": "small"}'],
    ["MODEL_ALIASES", '{"3fa85f64-5717-4562-b3fc-2c963f66afa6": "acme/small"}'],
  ];
  for (const [name, value] of cases) {
    const error = assertThrows(() => parseConfig(AgentConfig, { [name]: value }), ConfigError);
    assertStringIncludes(error.message, name);
  }
});

Deno.test("a fine-tuned model with an invalid UUID is named in the error", () => {
  const STUDIO_MODELS = '{"good": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "bad": "x"}';
  const error = assertThrows(() => parseConfig(AgentConfig, { STUDIO_MODELS }), ConfigError);
  assertStringIncludes(error.message, '"bad" needs a UUID');
});

Deno.test("a fallback that is not a hub model is named in the error", () => {
  const { HUB_FALLBACK } = parseConfig(AgentConfig, { HUB_FALLBACK: "a/b, c/d" });
  assertEquals(HUB_FALLBACK, ["a/b", "c/d"]);
  const wrong = () => parseConfig(AgentConfig, { HUB_FALLBACK: "a/b, gpt-4o" });
  assertStringIncludes(assertThrows(wrong, ConfigError).message, '"gpt-4o" is not of the form');
  const bare = { HUB_FALLBACK: "gpt-4o", HUB_BARE_MODELS: "on", MODEL_ALIASES: '{"a": "b"}' };
  assertEquals(parseConfig(AgentConfig, bare).HUB_FALLBACK, ["gpt-4o"]);
});

Deno.test("web_search without its key is not a valid configuration, so that --check says so too", () => {
  const parse = (more: Record<string, string> = {}) =>
    parseConfig(AgentConfig, { AGENT_TOOLS: "calculator,web_search", ...more });
  const { message } = assertThrows(() => parse(), ConfigError);
  assertStringIncludes(message, "AGENT_TOOLS: contains web_search, which needs TAVILY_API_KEY");
  assertEquals(parse({ TAVILY_API_KEY: "k" }).AGENT_TOOLS, ["calculator", "web_search"]);
});

Deno.test("an address with a password beside its key is refused, and the password is not shown", () => {
  const HUB_BASE_URL = "https://me:hunter2@hub.example/v1";
  const both = () => parseConfig(AgentConfig, { HUB_BASE_URL, HUB_API_KEY: "k" });
  const { message } = assertThrows(both, ConfigError);
  assertStringIncludes(message, "HUB_BASE_URL: has a user or a password, and HUB_API_KEY is set");
  assertEquals(message.includes("hunter2"), false);
  assertEquals(parseConfig(AgentConfig, { HUB_BASE_URL }).HUB_BASE_URL, HUB_BASE_URL);
});

Deno.test("a setting that has no effect without another one is named", () => {
  const explain = (environment: Record<string, string>) =>
    explainIdleSettings(parseConfig(AgentConfig, environment));
  const store = { RATE_LIMIT_STORE: "postgres://u:p@host/db" };
  const search = { TAVILY_API_KEY: "k" };
  const fallback = { HUB_FALLBACK: "acme/small" };
  assertEquals(explain({ ...store, ...search, ...fallback }), [
    "RATE_LIMIT_STORE has no effect: RATE_LIMIT is not set",
    "TAVILY_API_KEY has no effect: AGENT_TOOLS does not contain web_search",
    "HUB_FALLBACK has no effect: HUB_BASE_URL is not set",
  ]);
  assertEquals(explain({ ...store, RATE_LIMIT: "60/min" }), []);
  assertEquals(explain({ ...search, AGENT_TOOLS: "web_search" }), []);
  assertEquals(explain({ ...fallback, HUB_BASE_URL: "http://hub" }), []);
  assertEquals(explain({}), []);
});
