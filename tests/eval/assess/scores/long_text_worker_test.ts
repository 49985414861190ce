import { assertEquals } from "@std/assert";
import { createPairComparer } from "../../../../eval/assess/scores/lexical/pair_scores.ts";
import {
  COMPUTE_ONLY,
  type WorkerEvent,
  type WorkerPort,
} from "../../../../shared/background/worker_call.ts";

const WORKER = new URL(
  "../../../../eval/assess/scores/lexical/long_text_worker.ts",
  import.meta.url,
);

Deno.test("a long-text worker that is killed, idle or at work, costs no score", async () => {
  const started: Worker[] = [];
  const start = (): WorkerPort => {
    const worker = new Worker(WORKER, COMPUTE_ONLY);
    started.push(worker);
    return worker;
  };
  const kill = () => {
    const worker = started.at(-1)!;
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent("error", { message: "killed", cancelable: true }));
  };
  const events: WorkerEvent["kind"][] = [];
  using pairs = createPairComparer({ start, onEvent: ({ kind }) => events.push(kind) });
  const reference = "alpha beta gamma delta ".repeat(1000);
  const pair = { reply: `${reference}epsilon`, reference };

  const before = await pairs.compare(pair);
  kill();
  assertEquals(await pairs.compare(pair), before);
  const underWay = pairs.compare(pair);
  kill();
  assertEquals(await underWay, before);
  assertEquals([started.length, before.missing], [3, {}]);
  assertEquals(events, ["died", "restarted", "recovered", "died", "restarted", "recovered"]);
});
