import fc from "seeded-fast-check";
import { openStore } from "../../eval/store/open_store.ts";
import { RUN_STATUSES } from "../../eval/store/run_record.ts";
import { providerError } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "../fakes/eval_service.ts";
import { ADDRESSES, BODIES, checkAnswers } from "./answers.ts";
import { anything, bodies, headerValue, leaf, pathPart, query, text } from "./hostile.ts";

const FIELDS = ["test_batch", "endpoint", "model_id", "attempts", "test_name", "protocol"];

const interaction = fc.record({
  id: fc.oneof(text, leaf),
  user_message: fc.oneof(text, leaf),
  reference_reply: leaf,
  reference_metadata: leaf,
}, { requiredKeys: [] });
const batchBody = fc.oneof(
  anything,
  fc.tuple(fc.constantFrom(...FIELDS, "parameters"), leaf)
    .map(([field, value]) => evaluateBody({ [field]: value })),
  fc.array(fc.oneof(interaction, leaf), { maxLength: 3 })
    .map((interactions) => evaluateBody({ test_batch: { id: "s", interactions } })),
  fc.record({
    id: text,
    user_message: text,
    reference_reply: text,
    reference_metadata: fc.dictionary(text, text),
  }).map((turn) => evaluateBody({ test_batch: { id: "s", interactions: [turn] } })),
);

Deno.test("no body makes POST /evaluate fail", async () => {
  const { service } = evalService();
  await checkAnswers({
    count: BODIES,
    requests: bodies(batchBody),
    ask: (body) => service(evaluateRequestOf(body)),
  });
});

Deno.test("no headers make POST /evaluate fail", async () => {
  const { service, runs } = evalService(() => "fine", { environment: { MAX_RUNS: "100000" } });
  const headers = fc.record({
    accept: fc.oneof(fc.constant("text/event-stream"), headerValue),
    prefer: fc.oneof(fc.constant("respond-async"), headerValue),
    "idempotency-key": fc.oneof(fc.constantFrom("one", "two"), headerValue),
    "content-type": fc.oneof(fc.constant("application/json"), headerValue),
  }, { requiredKeys: [] });
  const body = fc.constantFrom(evaluateBody(), evaluateBody({ model_id: "other" }));
  await checkAnswers({
    count: ADDRESSES,
    requests: fc.tuple(body, headers),
    ask: ([body, headers]) => service(evaluateRequestOf(body, headers)),
  });
  await runs.stop(); // of `respond-async`
});

/** Runs of every kind in a real database, with unusual texts. */
async function storedRuns() {
  const store = await openStore({ path: ":memory:" });
  const { service, runs } = evalService((conversation) => {
    if (conversation.at(-1)?.content === "fail") throw providerError(500);
    return "odd \ud800 \u0000 ]]> \r\n =1+1";
  }, { store, environment: { MAX_RUNS: "100000" } });
  const odd = fc.sample(fc.record({ id: text, user_message: text, reference_reply: text }), 3);
  const kept = await Promise.all([
    evaluateBody({ test_batch: { id: "s", interactions: odd } }),
    evaluateBody({ attempts: 2, test_name: "\u0000", model_id: "\ud800" }),
    evaluateBody({
      test_batch: { id: "s", interactions: [{ id: "f", user_message: "fail" }] },
    }),
  ].map(async (body) => {
    const response = await service(evaluateRequestOf(body));
    return (await response.json()).run_id as string;
  }));
  const unbegun = await store.createRun({
    request: (await store.getRun(kept[0]!))!.request,
    testName: "unbegun",
  });
  return {
    ask: (method: string, path: string, init: RequestInit = {}) =>
      service(new Request(`http://127.0.0.1:8080${path}`, { method, ...init })),
    ids: [...kept, unbegun.id],
    async [Symbol.asyncDispose]() {
      await runs.stop();
      await store.close();
    },
  };
}

for (const action of ["cancel", "retry"]) {
  Deno.test(`no id and no body make POST /runs/{id}/${action} fail`, async () => {
    await using stored = await storedRuns();
    await checkAnswers({
      count: ADDRESSES, // neither reads its body
      requests: fc.tuple(pathPart(stored.ids), bodies(anything)),
      ask: ([id, body]) => stored.ask("POST", `/runs/${id}/${action}`, { body }),
    });
  });
}

Deno.test("no id makes /runs/{id} fail, whatever the method", async () => {
  await using stored = await storedRuns();
  await checkAnswers({
    count: ADDRESSES,
    requests: fc.oneof(
      fc.tuple(fc.constantFrom("GET", "HEAD", "PUT", "OPTIONS"), pathPart(stored.ids)),
      fc.tuple(fc.constant("DELETE"), pathPart([])),
    ),
    ask: ([method, id]) => stored.ask(method, `/runs/${id}`),
  });
});

Deno.test("no query makes GET /runs fail", async () => {
  await using stored = await storedRuns();
  await checkAnswers({
    count: ADDRESSES,
    requests: query({
      cursor: fc.constantFrom(...stored.ids),
      limit: fc.oneof(fc.integer().map(String), fc.constantFrom("1", "200", "1e2", "0x10", "NaN")),
      status: fc.constantFrom(...RUN_STATUSES),
      test_name: fc.constantFrom("s", "\u0000"),
      model_id: fc.constant("m"),
    }),
    ask: (query) => stored.ask("GET", `/runs?${query}`),
  });
});

Deno.test("no query makes GET /compare fail", async () => {
  await using stored = await storedRuns();
  const id = fc.constantFrom(...stored.ids);
  const scores = fc.constantFrom("overall", "bleu,overall", ",", "__proto__", "toString");
  await checkAnswers({
    count: ADDRESSES,
    requests: query({ baseline: id, candidate: id, runs: id, group: id, decide_by: scores }),
    ask: (query) => stored.ask("GET", `/compare?${query}`),
  });
});

Deno.test("no id and no query make GET /runs/{id}/export fail", async () => {
  await using stored = await storedRuns();
  const parameters = {
    format: fc.constantFrom("json", "jsonl", "csv", "junit", "markdown", "html"),
    threshold: fc.oneof(fc.double().map(String), fc.constantFrom("0", "1", "0.5", "")),
    baseline: fc.constantFrom(...stored.ids),
  };
  await checkAnswers({
    count: ADDRESSES,
    requests: fc.tuple(pathPart(stored.ids), query(parameters)),
    ask: ([id, query]) => stored.ask("GET", `/runs/${id}/export?${query}`),
  });
});

Deno.test("no id and no last-event-id make GET /runs/{id}/events fail", async () => {
  await using stored = await storedRuns();
  const last = fc.oneof(fc.constantFrom("0", "1", "end", "999999999999999", "-1"), headerValue);
  await checkAnswers({
    count: ADDRESSES,
    requests: fc.tuple(pathPart(stored.ids), last),
    ask: ([id, last]) =>
      stored.ask("GET", `/runs/${id}/events`, { headers: { "last-event-id": last } }),
  });
});
