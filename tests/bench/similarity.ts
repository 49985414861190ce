// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createBatchSemantics } from "../../eval/assess/batch_semantics.ts";
import type { Embedder } from "../../eval/assess/embeddings/embedder.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { semanticSimilarity } from "../../eval/assess/scores/semantic_similarity.ts";
import { DEFAULT_PASS_THRESHOLD as PASS } from "../../eval/results/passing.ts";
import type { Interaction, Scenario } from "../../eval/schemas/scenario.ts";

/** Languages of `data/equivalent_*.tsv` and `data/graded_*.tsv`, which say the same in each. */
export const LANGUAGES = ["en", "de", "fr", "es", "ru", "zh", "ja"];
/** Each reference is also paired with replies to others, these numbers of lines below. */
const SHIFTS = [2, 8, 24];

/** 60 pairs that say the same in other words. */
export async function readEquivalentPairs(language: string): Promise<[string, string][]> {
  return await readLines(`equivalent_${language}.tsv`) as [string, string][];
}

async function readLines(name: string): Promise<string[][]> {
  const file = new URL(`data/${name}`, import.meta.url);
  return (await Deno.readTextFile(file)).trim().split("\n").map((line) => line.split("\t"));
}

interface Pair {
  reference: string;
  reply: string;
}

/**
 * The shares of pairs that reach 0.7, by language and kind: rewordings close to the reference, in
 * other words altogether, replies that say something else on the same subject, replies to other
 * references. The pairs are ours.
 */
export async function similarityShares(): Promise<void> {
  using embedder = createLocalEmbedder();
  console.log("  shares that reach 0.7   close  other words  same subject  unrelated");
  for (const language of LANGUAGES) {
    const { references, kinds } = await readPairs(language);
    const semantics = createBatchSemantics([scenarioOf(references)], { embedder });
    const shares: string[] = [];
    for (const pairs of kinds) {
      const found = await Promise.all(pairs.map((pair) => semanticSimilarity(pair, semantics)));
      const reached = found.filter(({ value }) => value! >= PASS).length;
      shares.push((reached / pairs.length).toFixed(2).padStart(9));
    }
    console.log(`  ${language.padEnd(16)} ${shares.join("  ")}`);
  }
  await chatShares(embedder);
}

/**
 * The same of `data/chat_pairs.tsv`, by kind: replies of a chat that say what their reference says
 * (`+`), and that do not. The model and its threshold were chosen with them: no test figures.
 */
async function chatShares(embedder: Embedder): Promise<void> {
  const lines = await readLines("chat_pairs.tsv");
  const kinds = [...new Set(lines.map(([, kind, expected]) => `${kind}\t${expected}`))];
  const found = new Map<string, number[]>();
  for (const language of LANGUAGES) {
    const pairs = lines.filter(([of]) => of === language);
    const semantics = createBatchSemantics([scenarioOf(pairs.map((pair) => pair[3]!))], {
      embedder,
    });
    for (const [, kind, expected, reference, reply] of pairs) {
      const { value } = await semanticSimilarity(
        { reference: reference!, reply: reply! },
        semantics,
      );
      const key = `${kind}\t${expected}\t${language}`;
      found.getOrInsertComputed(key, () => []).push(Number(value! >= PASS));
    }
  }
  console.log(
    `\n  ${"chat pairs".padEnd(26)}${LANGUAGES.map((name) => name.padStart(6)).join("")}`,
  );
  for (const kind of kinds) {
    const [name, expected] = kind.split("\t");
    const shares = LANGUAGES.map((language) => {
      const passed = found.get(`${kind}\t${language}`)!;
      return (passed.reduce((sum, one) => sum + one, 0) / passed.length).toFixed(2).padStart(6);
    });
    console.log(`  ${`${expected === "same" ? "+" : "-"} ${name}`.padEnd(26)}${shares.join("")}`);
  }
}

async function readPairs(language: string): Promise<{ references: string[]; kinds: Pair[][] }> {
  const [hard, graded] = await Promise.all([
    readLines(`equivalent_${language}.tsv`),
    readLines(`graded_${language}.tsv`),
  ]);
  const pair = (lines: string[][], column: number, shift = 0): Pair[] =>
    lines.map(([reference], at) => ({
      reference: reference!,
      reply: lines[(at + shift) % lines.length]![column]!,
    })).filter((_, at) => at % 2 === 1);
  return {
    references: [...hard, ...graded].map(([reference]) => reference!),
    kinds: [
      pair(graded, 1),
      pair(hard, 1),
      pair(graded, 2),
      SHIFTS.flatMap((shift) => [...pair(hard, 1, shift), ...pair(graded, 1, shift)]),
    ],
  };
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
