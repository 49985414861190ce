import { assertEquals } from "@std/assert";
import { bareFailure, hiddenFailure } from "../../../shared/providers/answer.ts";

const response = new Response();

/** The status that an error with status 200 stands for; `undefined` if it is none. */
function statusOf(
  find: typeof hiddenFailure,
  value: unknown,
): number | undefined {
  const failure = find(response, value)?.diagnosis.failure;
  return failure?.kind === "status" ? failure.status : undefined;
}

const REPLY = { message: { role: "assistant", content: "Hi" } };

/** What an answer says, and its status; `undefined` for an answer that is no error. */
const ANSWERS: [answer: unknown, status: number | undefined][] = [
  [{ error: { code: 429 } }, 429],
  [{ error: { status: "503" } }, 503],
  [{ error: { code: 200 }, status: 404 }, 404],
  [{ error: { code: 399 } }, 500],
  [{ error: { code: 600 } }, 500],
  [{ error: { code: 599 } }, 599],
  [{ error: { code: "rate_limit_exceeded" } }, 429],
  [{ error: { type: "authentication_error" } }, 401],
  [{ error: { code: "context_length_exceeded" } }, 400],
  [{ error: "it failed" }, 500],
  [[{ error: { code: 400 } }], 400],
  [{ choices: [{ error: { code: 502 } }] }, 502],
  [{ choices: [{ ...REPLY, error: { code: 502 } }] }, 502],
  [{ choices: [REPLY] }, undefined],
  [{ choices: [REPLY], error: { code: 502 } }, undefined],
  [{ choices: [], error: null }, undefined],
  [{}, undefined],
  ["error", undefined],
];

Deno.test("an error with status 200 has the status that it tells, in numbers or in words", () => {
  for (const [answer, status] of ANSWERS) {
    assertEquals(statusOf(hiddenFailure, answer), status, JSON.stringify(answer));
  }
});

/** The same of answers that are an error as a whole. */
const BARE: [answer: unknown, status: number | undefined][] = [
  [{ object: "error", message: "no such model", code: 404 }, 404],
  [{ type: "Error", code: 429 }, 429],
  [{ detail: "Not Found" }, 500],
  [{ object: "error", code: 400, choices: [REPLY] }, undefined],
  [{ type: "error", code: 400, content: "Hi" }, undefined],
  [{ object: "errors", code: 400 }, undefined],
  [{ object: "chat.completion", code: 400 }, undefined],
  [{ detail: "" }, undefined],
  [{}, undefined],
];

Deno.test("an answer that is an error as a whole is one, unless it has a reply", () => {
  for (const [answer, status] of BARE) {
    assertEquals(statusOf(bareFailure, answer), status, JSON.stringify(answer));
  }
});
