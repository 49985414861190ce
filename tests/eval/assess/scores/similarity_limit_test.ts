import { assertStringIncludes } from "@std/assert";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import { createLocalEmbedder } from "../../../../eval/assess/embeddings/local.ts";
import {
  semanticSimilarity,
  SIMILARITY_LIMIT,
} from "../../../../eval/assess/scores/semantic_similarity.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";

interface Pair {
  kinds: string;
  reference: string;
  reply: string;
}

async function readEnglishPairs(): Promise<Pair[]> {
  const texts = await Promise.all(
    ["development", "held_out"].map((part) =>
      Deno.readTextFile(new URL(`../agreement/data/differences_${part}.tsv`, import.meta.url))
    ),
  );
  return texts.flatMap((text) => text.trim().split("\n")).map((line) => line.split("\t"))
    .filter(([language]) => language === "en")
    .map(([, kinds, reference, reply]) => ({
      kinds: kinds!,
      reference: reference!,
      reply: reply!,
    }));
}

/** The README and the pages of `docs`, without line breaks. */
async function readDocuments(): Promise<string> {
  const root = new URL("../../../../", import.meta.url);
  const pages = [new URL("README.md", root)];
  for await (const { name, isFile } of Deno.readDir(new URL("docs/", root))) {
    if (isFile && name.endsWith(".md")) pages.push(new URL(`docs/${name}`, root));
  }
  const texts = await Promise.all(pages.map((page) => Deno.readTextFile(page)));
  return texts.join("\n").replaceAll(/\s+/g, " ");
}

Deno.test("the stated scores of contradictions and of equivalents are those of our pairs", async () => {
  const pairs = await readEnglishPairs();
  const turns = pairs.map(({ reference }) => interaction("i", { reference_reply: reference }));
  using embedder = createLocalEmbedder();
  const semantics = createBatchSemantics([scenario("s", turns)], {
    embedder,
  });
  const measure = async (isMeant: (pair: Pair) => boolean) => {
    const meant = pairs.filter(isMeant);
    const values = await Promise.all(
      meant.map(async (pair) => (await semanticSimilarity(pair, semantics)).value!),
    );
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const passing = values.filter((value) => value >= 0.7).length / values.length;
    return { count: values.length, mean: mean.toFixed(2), passing: Math.round(100 * passing) };
  };
  const opposite = await measure(({ kinds }) => /negation|antonym/.test(kinds));
  const same = await measure(({ kinds }) => kinds === "-");
  for (const text of [SIMILARITY_LIMIT, await readDocuments()]) {
    assertStringIncludes(
      text,
      `the ${opposite.count} that contradict each other score ${opposite.mean} on average and ` +
        `${opposite.passing} % of them reach 0.7; the ${same.count} that say the same in other ` +
        `words score ${same.mean} and ${same.passing} % of them reach 0.7`,
    );
  }
});
