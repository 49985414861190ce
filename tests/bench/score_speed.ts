import { editSimilarity, MAX_EDIT_WORDS } from "../../eval/scores/edit_similarity.ts";
import { pairScorers } from "../../eval/scores/mod.ts";
import { createPairComparer } from "../../eval/scores/pair_scores.ts";
import { watchEventLoop } from "./event_loop.ts";
import { elapsedMs, report } from "./measure.ts";

const WORDS = 100_000;

/** Each score on two texts of 100,000 words, and the event loop meanwhile. */
export async function scoreSpeed(): Promise<void> {
  // Few distinct words are the hard case for subsequences, many for everything else.
  for (const distinct of [100, 50_000]) {
    const pair = { reply: text(WORDS, distinct), reference: text(WORDS, distinct) };
    for (const { name, compare } of pairScorers) {
      const started = performance.now();
      const value = compare(pair.reply, pair.reference);
      const what = `${name}, ${WORDS} words, ${distinct} distinct${
        value === null ? " (null)" : ""
      }`;
      report(what, performance.now() - started, { unit: "ms", bound: 3000, digits: 0 });
    }
  }
  // The longest that edit_similarity takes: one word more and it is null.
  const limit = { reply: text(MAX_EDIT_WORDS, 50_000), reference: text(MAX_EDIT_WORDS, 50_000) };
  const started = performance.now();
  editSimilarity(limit.reply, limit.reference);
  report(`edit_similarity, ${MAX_EDIT_WORDS} words`, performance.now() - started, {
    unit: "ms",
    digits: 0,
  });

  using pairs = createPairComparer();
  await pairs.compare({ reply: text(2000, 10), reference: "warm" });
  const pair = { reply: text(WORDS, 50_000), reference: text(WORDS, 50_000) };
  const watch = watchEventLoop();
  const ms = await elapsedMs(async () => await pairs.compare(pair));
  report("all of them through the worker", ms, { unit: "ms", digits: 0 });
  report("longest stretch without the event loop", watch.stop(), {
    unit: "ms",
    bound: 50,
    digits: 1,
  });
}

/** Frequent words and rare ones, as in a language. */
function text(words: number, distinct: number): string {
  return Array.from({ length: words }, () => `w${Math.floor(Math.random() ** 3 * distinct)}`)
    .join(" ");
}
