// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { parse } from "csv-parse/sync";
import { createBatchSemantics } from "../../eval/assess/batch_semantics.ts";
import { cosine } from "../../eval/assess/vectors.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { semanticSimilarity } from "../../eval/assess/scores/semantic_similarity.ts";
import { gramCosine } from "../../eval/assess/text/char_tfidf.ts";
import { DEFAULT_PASS_THRESHOLD as PASS } from "../../eval/results/passing.ts";
import type { Interaction } from "../../eval/schemas/scenario.ts";
import { quantile, report } from "./measure.ts";

const LANGUAGES = ["en", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "ja", "zh"];
/** The second sentence of an unrelated pair is this many lines below. */
const SHIFT = 137;
const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

/** People's grade, 0 to 5, and the pair's score; `unrelated`: the reference with another reply. */
interface Rated {
  grade: number;
  value: number;
  unrelated: number;
}

/**
 * Both ends of the scale by language, on public data that is not in the repository: `BENCH_DATA`
 * names a folder with `stsb/LANGUAGE-train.csv` and `-dev.csv` of stsb-multi-mt. The numbers of
 * `METHODS` are computed again from a part of the first and tested on the second.
 */
export async function similarityScale(): Promise<void> {
  using english = createLocalEmbedder();
  using cjk = createLocalEmbedder({ model: "bge-zh" });
  const ports = { embedder: { ...english, cjk } };
  let allowed = 0;
  for (const language of LANGUAGES) {
    const train = await readRows(`${language}-train`);
    const dev = await readRows(`${language}-dev`);
    if (!train || !dev) {
      console.log(
        `  ${language} not measured: no stsb/${language}-train.csv and -dev.csv in BENCH_DATA`,
      );
      continue;
    }
    if (language !== "en") {
      const mixes = await rate(train.filter((_, at) => at % 8 === 0), ports, rawMix);
      const low = mixes.filter(isLow).map(({ value }) => value);
      console.log(
        `  ${language}: floor ${mean(mixes.map(({ unrelated }) => unrelated)).toFixed(3)}, ` +
          `threshold ${quantile(low, 0.83).toFixed(3)} by the training part`,
      );
    }
    const found = await rate(
      dev,
      ports,
      async (pair, semantics) => (await semanticSimilarity(pair, semantics)).value!,
    );
    const passing = (pairs: Rated[]) => mean(pairs.map(({ value }) => value >= PASS ? 1 : 0));
    const low = passing(found.filter(isLow));
    if (language === "en") allowed = low + 0.1;
    report(`${language}: unrelated pairs, mean`, mean(found.map(({ unrelated }) => unrelated)), {
      bound: 0.1,
      digits: 3,
    });
    report(`${language}: pairs rated 1–2 that reach ${PASS}`, low, {
      bound: Number(allowed.toFixed(3)),
      digits: 3,
    });
    report(`${language}: pairs rated 4–5 that reach ${PASS}`, passing(found.filter(isHigh)), {
      digits: 3,
    });
  }
}

const isLow = ({ grade }: Rated) => grade >= 1 && grade <= 2;
const isHigh = ({ grade }: Rated) => grade >= 4;

type Semantics = ReturnType<typeof createBatchSemantics>;
type Compare = (
  pair: { reply: string; reference: string },
  semantics: Semantics,
) => Promise<number>;

/** The mix of a method before it is calibrated. */
async function rawMix(
  { reply, reference }: { reply: string; reference: string },
  semantics: Semantics,
): Promise<number> {
  const method = await semantics.similarityMethod(reference);
  const weigh = await semantics.tfIdf();
  const [one, other] = await Promise.all(
    [reply, reference].map((text) => semantics.embedFor(method, text)),
  );
  const words = gramCosine(weigh(reply), weigh(reference));
  return Math.min(1, method.share * Math.max(0, cosine(one!, other!)) + (1 - method.share) * words);
}

async function rate(
  rows: string[][],
  ports: Parameters<typeof createBatchSemantics>[1],
  compare: Compare,
): Promise<Rated[]> {
  const interactions = rows.map(([, reference_reply], at) => ({
    id: String(at),
    user_message: "",
    reference_reply,
  })) as Interaction[];
  const semantics = createBatchSemantics([{ id: "bench", description: "", interactions }], ports);
  return await Promise.all(rows.map(async ([reply, reference, grade], at) => {
    const other = rows[(at + SHIFT) % rows.length]![0]!;
    return {
      grade: Number(grade),
      value: await compare({ reply: reply!, reference: reference! }, semantics),
      unrelated: await compare({ reply: other, reference: reference! }, semantics),
    };
  }));
}

/** Two sentences and a grade per row; `undefined` if there is no such file. */
async function readRows(name: string): Promise<string[][] | undefined> {
  const file = `${Deno.env.get("BENCH_DATA") ?? ""}/stsb/${name}.csv`;
  const text = await Deno.readTextFile(file).catch(() => undefined);
  return text === undefined ? undefined : parse(text);
}
