import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/**
 * How many bodies are sent to a route, and how many ids, queries or headers. More of them found
 * hardly any other kind of answer; `PROPERTY_RUNS=500` tries ten thousand bodies.
 */
export const BODIES = 2_000;
export const ADDRESSES = 700;

/** Each of `count` requests is answered, and never with a 5xx. */
export async function checkAnswers<T>(
  { count, requests, ask }: {
    count: number;
    requests: fc.Arbitrary<T>;
    ask: (request: T) => Promise<Response>;
  },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(requests, async (request) => await checkAnswer(await ask(request))),
    { numRuns: Math.ceil(count * fc.readConfigureGlobal().numRuns! / 100) },
  );
}

/** Reads a whole answer. Throws if it is a 5xx or does not fit its content type. */
async function checkAnswer(response: Response): Promise<void> {
  const [type] = (response.headers.get("content-type") ?? "").split(";");
  if (response.status < 300 && type === "text/event-stream") return await checkEvents(response);
  const answer = await response.text();
  assert(response.status < 500, `${response.status}: ${answer}`);
  if (response.status >= 300) checkRefusal(response, { answer, type });
  else if (type === "application/json") JSON.parse(answer);
}

/** A stream that has begun reports failures as events. */
async function checkEvents(response: Response): Promise<void> {
  for await (const data of readServerSentEvents(response.body!)) {
    if (data === "[DONE]") continue;
    const event = JSON.parse(data);
    assert(event.code !== "internal" && event.error?.code !== "internal", data);
  }
}

function checkRefusal(
  { status, headers }: Response,
  { answer, type }: { answer: string; type: string | undefined },
): void {
  if (type === "text/event-stream") {
    checkProblem(JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer), { status, headers });
  } else if (type === "application/problem+json") {
    checkProblem(JSON.parse(answer), { status, headers });
  } else {
    assertEquals(type, "application/json");
    const { error } = JSON.parse(answer);
    const { message, type: kind, code, param } = error;
    assert([message, kind, code].every(isSaid), answer);
    assert(param === null || isSaid(param), answer);
  }
}

function checkProblem(
  problem: Record<string, unknown>,
  { status, headers }: { status: number; headers: Headers },
): void {
  const { type, title, detail, code, request_id: id } = problem;
  assert([type, title, detail, code].every(isSaid), JSON.stringify(problem));
  assertEquals([problem.status, id], [status, headers.get("x-request-id")]);
}

const isSaid = (value: unknown) => typeof value === "string" && value !== "";
