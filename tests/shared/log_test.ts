import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { AppError } from "../../shared/errors.ts";
import { createLogger, type LogFormat, type LogLevel } from "../../shared/log.ts";

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

Deno.test("a text line is for people, and leaves out what is unset", () => {
  const { log, lines } = logger("text");
  log.info("request", { path: "/", ms: 5, nothing: undefined });
  assertMatch(lines[0]!, /^\d\d:\d\d:\d\d INFO {2}request path=\/ ms=5$/);
});

Deno.test("only the level and what is graver is written", () => {
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

Deno.test("an error is written with its stack and its causes", () => {
  const { log, lines } = logger("json");
  log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
  const { error } = JSON.parse(lines[0]!);
  assertStringIncludes(error, "Error: outer");
  assertStringIncludes(error, "log_test.ts");
  assertStringIncludes(error, "caused by TypeError: inner");
});

Deno.test("an error that callers may read is written without its stack and its cause", () => {
  const { log, lines } = logger("json");
  const told = new AppError(502, "provider_error", "told", { cause: new Error("raw words") });
  log.warn("failed", { error: told });
  assertEquals(JSON.parse(lines[0]!).error, "AppError: told");
  log.error("failed", { error: new Error("ours", { cause: told }) });
  assertMatch(JSON.parse(lines[1]!).error, /log_test\.ts[^]*\ncaused by AppError: told$/);
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
