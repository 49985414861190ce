import { assertEquals } from "@std/assert";
import { AppError, type ErrorCode } from "../../../shared/errors.ts";
import { problemResponse, toProblem } from "../../../shared/http/router/problem.ts";

Deno.test("a problem has a type, a title, its status, detail, code and request id", () => {
  const cases: [number, ErrorCode, string][] = [
    [400, "invalid_request", "Bad Request"],
    [401, "unauthorized", "Unauthorized"],
    [403, "endpoint_not_allowed", "Forbidden"],
    [404, "model_not_found", "Not Found"],
    [413, "body_too_large", "Content Too Large"],
    [415, "unsupported_media_type", "Unsupported Media Type"],
    [429, "rate_limited", "Too Many Requests"],
    [502, "provider_error", "Bad Gateway"],
    [503, "overloaded", "Service Unavailable"],
    [504, "provider_timeout", "Gateway Timeout"],
  ];
  for (const [status, code, title] of cases) {
    assertEquals(toProblem(new AppError(status, code, "why"), "r1"), {
      type: "about:blank",
      title,
      status,
      detail: "why",
      code,
      request_id: "r1",
    });
  }
});

Deno.test("the fields that failed are listed", () => {
  const errors = [{ path: "a.0.b", message: "no" }];
  const error = new AppError(400, "invalid_request", "why", { errors });
  assertEquals(toProblem(error, "r1").errors, errors);
});

Deno.test("an error that is not an AppError reveals nothing", () => {
  for (const error of [new Error("inside"), "inside", null, undefined, { status: 200 }]) {
    const problem = toProblem(error, "r1");
    assertEquals([problem.status, problem.code], [500, "internal"]);
    assertEquals(JSON.stringify(problem).includes("inside"), false);
  }
});

Deno.test("a problem's media type and headers are set", () => {
  const headers = { allow: "GET" };
  const response = problemResponse(
    new AppError(405, "method_not_allowed", "no", { headers }),
    "r1",
  );
  assertEquals(response.headers.get("content-type"), "application/problem+json");
  assertEquals(response.headers.get("allow"), "GET");
});
