import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { AppError } from "../../shared/service/errors.ts";
import {
  createLogger,
  createRedactor,
  isSecretVariable,
  listSecrets,
  type LogFormat,
  type LogLevel,
  partsOfQuery,
} from "../../shared/service/log.ts";

function logger(format: LogFormat, level: LogLevel = "info") {
  const lines: string[] = [];
  return { log: createLogger({ level, format, write: (line) => lines.push(line) }), lines };
}

Deno.test("a JSON line has the time, the level, the message and the fields", () => {
  const { log, lines } = logger("json");
  log.warn("careful", { model: "a/b", ms: 5 });
  const { time, ...rest } = JSON.parse(lines[0]!);
  assertMatch(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assertEquals(rest, { level: "warn", message: "careful", model: "a/b", ms: 5 });
});

Deno.test("a text line is easy to read, and leaves out unset fields", () => {
  const { log, lines } = logger("text");
  log.info("request", { path: "/", ms: 5, nothing: undefined });
  assertMatch(lines[0]!, /^\d\d:\d\d:\d\d INFO {2}request path=\/ ms=5$/);
});

Deno.test("only the configured level and more severe ones are written", () => {
  const expected: [LogLevel, number][] = [
    ["debug", 4],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
    ["silent", 0],
  ];
  for (const [level, count] of expected) {
    const { log, lines } = logger("json", level);
    log.debug("d");
    log.info("i");
    log.warn("w");
    log.error("e");
    assertEquals(lines.length, count, level);
  }
});

Deno.test("an error is logged by name, code and place, without its message, stack or a path", () => {
  const { log, lines } = logger("json");
  const cause = Object.assign(new TypeError("the key is s3cret"), { code: "ENOSPC" });
  log.error("failed", { error: new Error("<h1>their page</h1>", { cause }) });
  assertMatch(
    JSON.parse(lines[0]!).error,
    /^Error at log_test\.ts:\d+:\d+, caused by TypeError ENOSPC at log_test\.ts:\d+:\d+$/,
  );
});

Deno.test("a message that looks like a stack frame is not used as the place", () => {
  const { log, lines } = logger("json");
  log.error("failed", { error: new TypeError("they said:\n    at file:x/s3cret:1:1\nmore") });
  assertMatch(JSON.parse(lines[0]!).error, /^TypeError at log_test\.ts:\d+:\d+$/);
});

Deno.test("of causes that form a circle only a few are logged", () => {
  const { log, lines } = logger("json");
  const [one, other] = [new Error("one"), new TypeError("other")];
  one.cause = other;
  other.cause = one;
  log.error("failed", { error: one });
  assertEquals(JSON.parse(lines[0]!).error.split(", caused by ").length, 5);
});

Deno.test("an error inside a library is logged with the place in our code that called it", () => {
  const { log, lines } = logger("json");
  const cause = assertThrows(() => z.string().parse(1), Error);
  log.error("failed", { error: cause });
  assertMatch(JSON.parse(lines[0]!).error, /^ZodError at log_test\.ts:\d+:\d+$/);
});

Deno.test("invalid names and codes are left out, and an error may have no place", () => {
  const { log, lines } = logger("json");
  const odd = Object.assign(new Error("x"), { name: "a b\nc", code: "the key" });
  odd.stack = "no frames";
  log.error("failed", { error: odd });
  assertEquals(JSON.parse(lines[0]!).error, "Error");
});

Deno.test("at debug an error is logged with its message, stack and causes", () => {
  const { log, lines } = logger("json", "debug");
  log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
  const { error } = JSON.parse(lines[0]!);
  assertStringIncludes(error, "Error: outer");
  assertStringIncludes(error, "    at ");
  assertStringIncludes(error, "caused by TypeError: inner");
});

Deno.test("an AppError is logged with its message, without its stack and cause", () => {
  const told = new AppError(502, "provider_error", "told", { cause: new Error("raw words") });
  for (const level of ["info", "debug"] as const) {
    const { log, lines } = logger("json", level);
    log.warn("failed", { error: told });
    assertEquals(JSON.parse(lines[0]!).error, "AppError: told");
    log.error("failed", { error: new Error("ours", { cause: told }) });
    assertMatch(JSON.parse(lines[1]!).error, /log_test\.ts[^]*caused by AppError: told$/);
  }
});

Deno.test("no value can make one line look like two", () => {
  const forged = "x\n12:00:00 INFO  forged";
  for (const format of ["text", "json"] as const) {
    const { log, lines } = logger(format);
    log.info("request", { path: forged, quote: 'a"b', escape: "\u001b[31m", bidi: "\u202e" });
    assertEquals(lines[0]!.split("\n").length, 1);
    assertEquals(lines[0]!.includes("\u001b"), false);
  }
});

Deno.test("no value of a text line can command a terminal or turn the text around", () => {
  const { log, lines } = logger("text");
  log.info("request", { model: "a\u009b31m\u007f", path: "b\u202e\u2028\u2066", zwj: "👩‍💻" });
  assertEquals(
    lines[0]!.slice("12:00:00 ".length),
    'INFO  request model="a\\u009b31m\\u007f" path="b\\u202e\\u2028\\u2066" zwj="👩‍💻"',
  );
});

Deno.test("a long value is cut, and the line stays JSON", () => {
  const { log, lines } = logger("json");
  log.info("request", { model: "m".repeat(8_000_000), path: "/evaluate" });
  const { model, path } = JSON.parse(lines[0]!);
  assertEquals(model, `${"m".repeat(1000)}… (7999000 more)`);
  assertEquals(path, "/evaluate");
});

Deno.test("a line of many values is bounded as a whole", () => {
  for (const format of ["text", "json"] as const) {
    const { log, lines } = logger(format);
    const many = Array.from({ length: 100_000 }, (_, index) => `label ${index}`);
    log.warn("labels", { labels: many });
    assertEquals(lines[0]!.length < 16_000, true, format);
    assertStringIncludes(lines[0]!, "cut_from");
    const fields = Object.fromEntries(many.slice(0, 50).map((name) => [name, "x".repeat(900)]));
    log.warn("m".repeat(100_000), fields);
    assertEquals(lines[1]!.length < 16_000, true, format);
  }
});

Deno.test("a secret at the end of a cut value is removed before the cut", () => {
  const lines: string[] = [];
  const redact = (line: string) => line.replaceAll("s3cret-key", "[secret]");
  const log = createLogger({ level: "info", format: "json", write: (l) => lines.push(l), redact });
  log.info("x", { text: `${"a".repeat(995)}s3cret-key${"b".repeat(5000)}` });
  assertEquals(lines[0]!.includes("s3cre"), false);
});

Deno.test("a long text without an address is read once", () => {
  const text = "a.".repeat(500_000); // looking for the end of a scheme at each letter: an hour
  assertEquals(createRedactor([])(text), text);
});

Deno.test("an address loses its user, query and fragment, whatever its scheme", () => {
  const redact = createRedactor([]);
  assertEquals(
    redact("ask git+ssh://me:pass@host/a?key=1#top and https://b/c?d"),
    "ask git+ssh://host/a and https://b/c",
  );
});

Deno.test("a secret is removed as it is, within JSON and within an address", () => {
  const redact = createRedactor(['pa"ss/1 x']);
  assertEquals(redact('it is pa"ss/1 x'), "it is [secret]");
  assertEquals(redact(JSON.stringify({ key: 'pa"ss/1 x' })), '{"key":"[secret]"}');
  assertEquals(redact(`/path/${encodeURIComponent('pa"ss/1 x')}`), "/path/[secret]");
});

Deno.test("of two secrets the longer is removed whole; those of fewer than six characters stay", () => {
  const redact = createRedactor(["secret", "secret-of-ann", "short"]);
  assertEquals(redact("secret-of-ann, secret, short"), "[secret], [secret], short");
});

Deno.test("the secrets of a configuration are its keys, each also without its name, and its passwords", () => {
  const secrets = listSecrets({
    API_KEYS: ["ann:planted-a", "planted-b"],
    EVAL_CREDENTIALS: { "https://a.example": "planted-c" },
    STUDIO_API_KEY: undefined,
    HUB_BASE_URL: "https://ann:plant%65d-d@b.example/v1",
    JUDGE_BASE_URL: "https://c.example/v1?api-version=2026-01&api_key=plant%65d-e",
    EVAL_DATA: "eval.db",
    MODEL: "not:secret",
  });
  assertEquals(
    new Set(secrets.filter(Boolean)),
    new Set([
      "ann:planted-a",
      "planted-a",
      "planted-b",
      "planted-c",
      "plant%65d-d",
      "planted-d",
      "plant%65d-e",
      "planted-e",
    ]),
  );
  const names = ["HUB_API_KEY", "API_KEYS", "A_TOKEN", "A_SECRET", "A_PASSWORD", "A_CREDENTIALS"];
  assertEquals([...names, "KEYS", "A_KEY_FILE"].filter(isSecretVariable), names);
});

Deno.test("the query of an address is removed as it is, and by its parameters and values", () => {
  const redact = createRedactor(
    partsOfQuery("https://a.example/v1?key=plant%2fed+a&n=1234&planted-b"),
  );
  const said = (text: string) => redact(`no route for /v1/chat?${text}`);
  for (
    const text of [
      "key=plant%2fed+a&n=1234&planted-b",
      "key=plant%2fed+a",
      "n=1234",
      "planted-b",
    ]
  ) assertEquals(said(text), "no route for /v1/chat?[secret]");
  assertEquals(redact("plant/ed a, plant/ed+a, plant%2Fed%20a"), "[secret], [secret], [secret]");
  assertEquals(redact("the key is not 1234"), "the key is not 1234");
  const odd = createRedactor(partsOfQuery("https://a.example/v1?key=a%2zb%41secret"));
  assertEquals(odd("a%2zbAsecret and a%2zb%41secret"), "[secret] and [secret]");
  assertEquals(createRedactor(partsOfQuery("https://a.example/v1"))("as it is"), "as it is");
});
