import { assert, assertEquals } from "@std/assert";
import { pairScorers } from "../../../../eval/assess/scores/pair_scorers.ts";
import { MAX_PAIR_CHARACTERS } from "../../../../eval/assess/scores/score.ts";
import {
  comparePair,
  createPairComparer,
} from "../../../../eval/assess/scores/lexical/pair_scores.ts";
import type { WorkerPort } from "../../../../shared/background/worker_call.ts";

const NAMES = pairScorers.map(({ name }) => name);
const LINEAR = NAMES.filter((name) => name !== "rouge_l" && name !== "edit_similarity");

/** A worker that breaks with every call but the first, which is the probe. */
function brokenWorker() {
  let calls = 0;
  const start = (): WorkerPort => {
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage({ id, input }: { id: number; input: { reply: string } }) {
        calls++;
        const isProbe = input.reply === "";
        const event = isProbe
          ? new MessageEvent("message", { data: { id, output: { scores: {}, missing: {} } } })
          : new MessageEvent("message", { data: { id, error: "Map maximum size exceeded" } });
        queueMicrotask(() => port.onmessage?.call(port as Worker, event));
      },
      terminate() {},
    };
    return port;
  };
  return { start, calls: () => calls };
}

Deno.test("what the worker cannot compute is missing with its reason, and never computed here", async () => {
  const { start } = brokenWorker();
  using pairs = createPairComparer({ start });
  // Compared on this thread it would have scores: it is the same text twice.
  const text = "alpha beta ".repeat(1000);
  const { scores, missing } = await pairs.compare({ reply: text, reference: text });
  assertEquals(scores, Object.fromEntries(NAMES.map((name) => [name, null])));
  assertEquals(
    missing,
    Object.fromEntries(NAMES.map((name) => [name, "Map maximum size exceeded"])),
  );
});

Deno.test("a text that is too long for every score is not even sent to the worker", async () => {
  const { start, calls } = brokenWorker();
  using pairs = createPairComparer({ start });
  const long = "的".repeat(MAX_PAIR_CHARACTERS + 1);
  const { scores, missing } = await pairs.compare({ reply: long, reference: "short" });
  assertEquals(new Set(Object.values(scores)), new Set([null]));
  assertEquals(missing.bleu, "the reply is longer than 200,000 characters");
  assertEquals(missing.edit_similarity, "the reply is longer than 80,000 characters");
  assertEquals(calls(), 0);
});

Deno.test("between the limits only the scores whose time is a product of lengths are missing", () => {
  const reference = "word ".repeat(20_000);
  const { scores, missing } = comparePair({ reply: "word", reference });
  assertEquals(Object.keys(missing).toSorted(), ["edit_similarity", "rouge_l"]);
  assertEquals(missing.rouge_l, "the reference is longer than 80,000 characters");
  for (const name of LINEAR) assert(scores[name] !== null, name);
});

Deno.test("a score that throws is missing, and the others of the pair are not", () => {
  const fail = () => {
    throw new RangeError("Invalid array length");
  };
  const scorers = pairScorers.map((scorer) =>
    scorer.name === "bleu" ? { ...scorer, compare: fail } : scorer
  );
  const { scores, missing } = comparePair({ reply: "a b", reference: "a b" }, scorers);
  assertEquals(missing, { bleu: "it failed: Invalid array length" });
  assertEquals([scores.bleu, scores.rouge_1], [null, 1]);
});
