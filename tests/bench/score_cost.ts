import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { elapsedMs, report } from "./measure.ts";

const TEXTS = 160;

/** The cost of a text that is not cached. Only `semantic_similarity` is expensive. */
export async function scoreCost(): Promise<void> {
  using embedder = createLocalEmbedder();
  report(
    "sentence encoder: first text, loading included",
    await elapsedMs(() => embedder.embed("a")),
    {
      unit: "ms",
      digits: 0,
    },
  );
  for (const words of [12, 80, 800]) {
    const count = Math.max(4, Math.round(TEXTS * 12 / words));
    const texts = Array.from({ length: count }, (_, index) => text(words, index));
    const ms = await elapsedMs(() => Promise.all(texts.map((text) => embedder.embed(text))));
    report(`a new text of ${words} words`, ms / count, { unit: "ms", digits: 1 });
    const again = await elapsedMs(() => Promise.all(texts.map((text) => embedder.embed(text))));
    report(`the same text again`, again / count, { unit: "ms", digits: 3 });
  }
}

function text(words: number, seed: number): string {
  const list = "your order was shipped on Monday and it should arrive here by Thursday".split(" ");
  return Array.from({ length: words }, (_, i) => i === 0 ? `${seed}` : list[i % list.length]).join(
    " ",
  );
}
