import { assert, assertStringIncludes, assertThrows } from "@std/assert";
import { EvalConfig } from "../../eval/config.ts";
import { ConfigError, parseConfig } from "../../shared/service/config.ts";

Deno.test("a key that cannot be sent in a header stops the start, and its variable is named", () => {
  const cases: [variable: string, value: string][] = [
    ["EVAL_API_KEY", "“k”"],
    ["JUDGE_API_KEY", "a\nb"],
    ["EMBEDDINGS_API_KEY", "ключ"],
    ["EVAL_CREDENTIALS", '{"https://a.example": "“k”"}'],
  ];
  for (const [variable, value] of cases) {
    const { message } = assertThrows(
      () => parseConfig(EvalConfig, { [variable]: value }),
      ConfigError,
    );
    assertStringIncludes(message, variable);
    assertStringIncludes(message, "cannot be sent in a header");
  }
});

Deno.test("an address of a judge or of embeddings without a model stops the start", () => {
  for (const service of ["JUDGE", "EMBEDDINGS"]) {
    const address = { [`${service}_BASE_URL`]: "http://127.0.0.1:9000/v1" };
    const { message } = assertThrows(() => parseConfig(EvalConfig, address), ConfigError);
    assertStringIncludes(message, `${service}_MODEL: must be set if ${service}_BASE_URL is`);
    parseConfig(EvalConfig, { ...address, [`${service}_MODEL`]: "m" });
  }
});

Deno.test("the file of the runs is a path, not an address of one", () => {
  for (
    const EVAL_DATA of [
      ...["file:eval.db", "file:/var/lib/eval.db", "file:///var/lib/eval.db", "sqlite:eval.db"],
      ...["postgres:/assay", "postgresql:host/assay", "Postgres:"],
    ]
  ) {
    const parse = () => parseConfig(EvalConfig, { EVAL_DATA });
    assertThrows(parse, ConfigError, "EVAL_DATA: must be a path, or postgres://");
  }
  parseConfig(EvalConfig, { EVAL_DATA: "./my files:/eval.db" });
});

Deno.test("a secret in the wrong place of the configuration stops the start, and is not shown", () => {
  const cases: [variable: string, value: string, reason: string][] = [
    ["EVAL_CREDENTIALS", '{"planted-k": "https://a.example"}', "must hold http or https origins"],
    ["EVAL_DATA", "postgre://assay:planted-k@127.0.0.1/assay", "must be a path, or postgres://"],
    ["EVAL_DATA", "postgres:/assay:planted-k@127.0.0.1/assay", "must be a path, or postgres://"],
  ];
  for (const [variable, value, reason] of cases) {
    const { message } = assertThrows(
      () => parseConfig(EvalConfig, { [variable]: value }),
      ConfigError,
    );
    assertStringIncludes(message, `${variable}: ${reason}`);
    assert(!message.includes("planted-k"), message);
  }
});

Deno.test("an endpoint without a scheme is refused in words, not with a pattern", () => {
  for (const EVAL_ENDPOINTS of ["example.com", "*.example.com", "https://*.com"]) {
    const parse = () => parseConfig(EvalConfig, { EVAL_ENDPOINTS });
    assertThrows(parse, ConfigError, "EVAL_ENDPOINTS.0: must hold origins such as https://");
  }
});
