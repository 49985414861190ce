// deno-lint-ignore-file no-console -- speaks to the process that started it
/**
 * `dataset_process.ts DATABASE SCENARIOS heap|stretch`: writes a dataset over the handlers and reads
 * it back, and prints as JSON what that took. Needs `--expose-gc`.
 */
import { createContentChecks } from "../../eval/score/content_checks.ts";
import { createDatasetHandlers } from "../../eval/http/dataset_routes.ts";
import { openStore } from "../../eval/store/open_store.ts";
import type { RequestContext } from "../../shared/http/router.ts";
import { watchEventLoop } from "./event_loop.ts";

/** Sizes in bytes, times in milliseconds. */
export interface DatasetMeasurement {
  /** How much more was reachable at most than before. */
  grown: number;
  longestStretch: number;
  /** Of the process, between two turns of its event loop. */
  mostProcessor: number;
  bytes: number;
  ms: { write: number; read: number };
}

const collectGarbage = (globalThis as unknown as { gc: () => void }).gc;

function liveHeap(): number {
  collectGarbage();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** JSONL that is made while it is sent. */
function file(scenarios: number): ReadableStream<Uint8Array> {
  const reply = "word ".repeat(60);
  function* lines() {
    for (let index = 0; index < scenarios; index++) {
      const turn = { user_message: `Question ${index}?`, reference_reply: reply };
      const interactions = [{ id: "1", ...turn }, { id: "2", ...turn }];
      yield `${JSON.stringify({ id: `s${index}`, interactions })}\n`;
    }
  }
  return ReadableStream.from(lines()).pipeThrough(new TextEncoderStream());
}

if (import.meta.main) {
  const [path = "", scenarios = "", watch = "stretch"] = Deno.args;
  const store = await openStore({ path });
  using checks = createContentChecks();
  const handlers = createDatasetHandlers({
    store,
    scoring: { checks },
    config: { MAX_BODY_BYTES: 8_388_608 },
  });
  const url = new URL("http://127.0.0.1/datasets/large?format=jsonl");
  const context = { url, params: { name: "large" } } as unknown as RequestContext;
  const before = liveHeap();
  let peak = before;
  const look = () => peak = Math.max(peak, liveHeap());
  // Garbage collection blocks the loop, so memory and blocking are measured in two processes.
  const timer = watch === "heap" ? setInterval(look, 500) : undefined;
  const loop = watchEventLoop();
  const started = performance.now();
  const request = new Request(url, { method: "PUT", body: file(Number(scenarios)) });
  const { bytes } = await (await handlers.put(request, context)).json();
  const written = performance.now();
  let read = 0;
  const answer = await handlers.show(new Request(url), context);
  for await (const chunk of answer.body!) read += chunk.length;
  if (read !== bytes) throw new Error(`${bytes} bytes were written, ${read} were read`);
  const result: DatasetMeasurement = {
    grown: peak - before,
    longestStretch: loop.stop(),
    mostProcessor: loop.processorMs(),
    bytes,
    ms: { write: written - started, read: performance.now() - written },
  };
  clearInterval(timer);
  console.log(JSON.stringify(result));
  await store.close();
}
