import { assertEquals } from "@std/assert";
import type { WorkerRequest, WorkerResponse } from "../../../shared/background/worker_call.ts";

Deno.test("a call without an end is stopped, and its thread is free for the next", async () => {
  const script = new URL("../../fakes/fragile_worker.ts", import.meta.url);
  const worker = new Worker(script, { type: "module" });
  const answered = Promise.withResolvers<WorkerResponse<string>>();
  worker.onmessage = ({ data }) => answered.resolve(data);
  const order = (request: WorkerRequest<string>) => worker.postMessage(request);
  order({ id: 1, input: "hang", limitMs: 20 });
  order({ id: 2, input: "b", limitMs: 60_000 });
  assertEquals(await answered.promise, { id: 2, output: "b" });
  worker.terminate();
});
