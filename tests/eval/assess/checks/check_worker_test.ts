import { assertEquals } from "@std/assert";
import type { CheckWork } from "../../../../eval/assess/checks/content_checks.ts";
import {
  COMPUTE_ONLY,
  type WorkerRequest,
  type WorkerResponse,
} from "../../../../shared/background/worker_call.ts";

const WORKER = new URL("../../../../eval/assess/checks/check_worker.ts", import.meta.url);

/** A schema that no number fits, as the last of 2^levels ways to try shows. */
function schemaOfWays(levels: number) {
  const definitions: Record<string, unknown> = { [`d${levels}`]: { type: "string" } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/definitions/d${level + 1}` };
    definitions[`d${level}`] = { anyOf: [next, next] };
  }
  return { definitions, $ref: "#/definitions/d0" };
}

Deno.test("a schema that would take years is stopped, and the thread does the next work", async () => {
  const worker = new Worker(WORKER, COMPUTE_ONLY);
  const answered = Promise.withResolvers<WorkerResponse<unknown>>();
  worker.onmessage = ({ data }) => answered.resolve(data);
  const order = (request: WorkerRequest<CheckWork>) => worker.postMessage(request);
  const check = { type: "json", value: schemaOfWays(60) } as const;
  order({ id: 1, input: { decide: [{ check, text: "1" }] }, limitMs: 100 });
  order({ id: 2, input: { inspect: [] }, limitMs: 60_000 });
  assertEquals(await answered.promise, { id: 2, output: [] });
  worker.terminate();
});
