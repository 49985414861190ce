import { assertEquals } from "@std/assert";
import { createLogger } from "../../../shared/log.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

const STREAM = { accept: "text/event-stream" };

function collect() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const requests = () => lines.filter(({ message }) => message === "request");
  return { log: createLogger({ level: "info", format: "json", write }), requests };
}

const untilNext = () => new Promise((resolve) => setTimeout(resolve, 1));

Deno.test("a streamed evaluation writes one log line, at its end, with its outcome and tokens", async () => {
  const { log, requests } = collect();
  const gate = gatedTarget();
  const { service, runs } = evalService(() => "", { ...gate, log });
  const response = await service(evaluateRequestOf(evaluateBody(), STREAM));
  const reader = response.body!.getReader();
  await reader.read();
  assertEquals(requests(), []);
  gate.open();
  while (!(await reader.read()).done);
  await untilNext();
  const [{ route, status, model, outcome, input_tokens }, ...more] = requests() as [
    Record<string, unknown>,
  ];
  assertEquals([route, status, model, outcome, more], [
    "POST /evaluate",
    200,
    "m",
    "completed",
    [],
  ]);
  assertEquals(typeof input_tokens, "number");
  await runs.stop();
});

Deno.test("the log line of an event stream says whether the client left or stayed to the end", async () => {
  const { log, requests } = collect();
  const gate = gatedTarget();
  const { service } = evalService(() => "", { ...gate, log });
  const accepted = await service(evaluateRequestOf(evaluateBody(), { prefer: "respond-async" }));
  const { run_id } = await accepted.json();
  const events = () => service(new Request(`http://127.0.0.1:8080/runs/${run_id}/events`));
  const leaving = (await events()).body!.getReader();
  await leaving.read();
  const staying = (await events()).text();
  assertEquals(requests().length, 1);
  await leaving.cancel();
  await untilNext();
  assertEquals(requests().map(({ outcome }) => outcome), [undefined, "client left"]);
  gate.open();
  await staying;
  await untilNext();
  const { route, outcome } = requests().at(-1)!;
  assertEquals([requests().length, route, outcome], [3, "GET /runs/:id/events", undefined]);
});

Deno.test("events that cannot be read to their end are logged as a failure of the service", async () => {
  const { log, requests } = collect();
  const store = memoryStore();
  const { service } = evalService(() => "fine", { store, log });
  const { run_id } = await (await service(evaluateRequestOf(evaluateBody()))).json();
  store.turnsAfter = () => Promise.reject(new TypeError("the words of the database"));
  const response = await service(new Request(`http://127.0.0.1:8080/runs/${run_id}/events`));
  await response.text().catch(() => {});
  await untilNext();
  const { level, error } = requests().at(-1)!;
  assertEquals([level, String(error).split(".ts")[0]], ["error", "TypeError at stream_log_test"]);
});
