// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createBatchSemantics } from "../../eval/assess/batch_semantics.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { createLanguageDetector } from "../../eval/assess/language/detector.ts";
import { semanticSimilarity } from "../../eval/assess/scores/semantic_similarity.ts";
import type { Interaction, Scenario } from "../../shared/schemas/evaluate.ts";
import { report } from "./measure.ts";

/** Languages of `data/equivalent_*.tsv`: 60 pairs each that say the same in other words. */
export const LANGUAGES = ["de", "fr", "es", "ru", "zh", "ja"];
const PASS = 0.7;
/** Each reference is also paired with replies to other ones, so many lines below. */
const SHIFTS = [1, 7, 23];

export async function readEquivalentPairs(language: string): Promise<[string, string][]> {
  const file = new URL(`data/equivalent_${language}.tsv`, import.meta.url);
  const lines = (await Deno.readTextFile(file)).trim().split("\n");
  return lines.map((line) => line.split("\t") as [string, string]);
}

/**
 * The shares of equivalent and of different pairs that reach 0.7, by language: the thresholds of the
 * methods were chosen on the pairs of even lines, and these are the others. The pairs are ours, and
 * hard: the second text avoids the words of the first.
 */
export async function similarityShares(): Promise<void> {
  using embedder = createLocalEmbedder();
  using detector = createLanguageDetector();
  for (const language of LANGUAGES) {
    const pairs = await readEquivalentPairs(language);
    const semantics = createBatchSemantics([scenarioOf(pairs.map(([text]) => text))], {
      embedder,
      detector,
    });
    const methods = new Set<string>();
    const share = async (shift: number) => {
      let reached = 0;
      for (let i = 1; i < pairs.length; i += 2) {
        const pair = { reference: pairs[i]![0], reply: pairs[(i + shift) % pairs.length]![1] };
        const { value, method } = await semanticSimilarity(pair, semantics);
        methods.add(method);
        if (value! >= PASS) reached++;
      }
      return reached / (pairs.length / 2);
    };
    const equivalent = await share(0);
    const different = await Promise.all(SHIFTS.map(share));
    console.log(`  ${language}: ${[...methods].join(", ")}`);
    report("equivalent pairs that reach 0.7", equivalent);
    report("different pairs that do", different.reduce((a, b) => a + b) / SHIFTS.length, {
      bound: 0.1,
    });
  }
}

function scenarioOf(references: string[]): Scenario {
  const interactions = references.map((reference_reply, index): Interaction => ({
    id: String(index),
    user_message: "",
    agent_reply: "",
    reference_reply,
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
  }));
  return { id: "bench", description: "", interactions };
}
