import { pairScorers } from "../../eval/score/pair_scorers.ts";
import { MAX_PAIR_CHARACTERS } from "../../eval/score/score.ts";
import { createPairComparer } from "../../eval/score/scores/lexical/pair_scores.ts";
import { watchEventLoop } from "./event_loop.ts";
import { elapsedMs, report } from "./measure.ts";

/** Each score on the two longest texts that it takes, and the event loop meanwhile. */
export async function scoreSpeed(): Promise<void> {
  // Few distinct words are the hard case for subsequences, many for everything else.
  for (const distinct of [100, 50_000]) {
    for (const { name, longest, compare } of pairScorers) {
      const [reply, reference] = [text(longest, distinct), text(longest, distinct)];
      const started = performance.now();
      compare(reply, reference);
      const what = `${name}, ${longest} characters, ${distinct} distinct words`;
      report(what, performance.now() - started, { unit: "ms", bound: 3000, digits: 0 });
    }
  }

  using pairs = createPairComparer();
  await pairs.compare({ reply: text(2000, 10), reference: "warm" });
  const pair = {
    reply: text(MAX_PAIR_CHARACTERS, 50_000),
    reference: text(MAX_PAIR_CHARACTERS, 50_000),
  };
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
function text(characters: number, distinct: number): string {
  const word = () => `w${Math.floor(Math.random() ** 3 * distinct)} `;
  return Array.from({ length: characters / 2 }, word).join("").slice(0, characters);
}
