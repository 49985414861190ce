// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { DEFAULT_PASS_THRESHOLD as PASS } from "../../eval/figures/passing.ts";
import { compareAll, type Pair, type Ports } from "./compared_pairs.ts";

/** Languages of `data/equivalent_*.tsv` and `data/graded_*.tsv`, which say the same in each. */
const LANGUAGES = ["en", "de", "fr", "es", "ru", "zh", "ja"];
/** Each reference is also paired with replies to others, these numbers of lines below. */
const SHIFTS = [2, 8, 24];

async function readLines(name: string): Promise<string[][]> {
  const file = new URL(`data/${name}`, import.meta.url);
  return (await Deno.readTextFile(file)).trim().split("\n").map((line) => line.split("\t"));
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
    const kinds = await readPairs(language);
    const shares: string[] = [];
    for (const pairs of kinds) {
      const passing = (await compareAll(pairs, { embedder })).filter(({ score }) => score >= PASS);
      shares.push((passing.length / pairs.length).toFixed(2).padStart(9));
    }
    console.log(`  ${language.padEnd(16)} ${shares.join("  ")}`);
  }
  await chatShares({ embedder });
}

/** What contradicts its reference, and what does not answer: at most 5 % of each may pass. */
const CONTRADICTIONS = "flipped, padded flipped, denied, taken back, both answers, number changed";
const NON_ANSWERS = "echoed question, deflection, refusal";

/**
 * Shares of `data/chat_pairs.tsv`, by kind: replies of a chat that say what their reference says
 * (`+`), and that do not. The model and its threshold were chosen with them: no test figures.
 */
async function chatShares(ports: Ports): Promise<void> {
  const pairs = (await readLines("chat_pairs.tsv")).map((
    [language, kind, expected, one, other],
  ) => ({
    language: language!,
    kind: `${expected === "same" ? "+" : "-"} ${kind}`,
    reference: one!,
    reply: other!,
  }));
  const compared = await compareAll(pairs, ports);
  const print = (title: string, isMeant: (kind: string) => boolean) => {
    const shares = LANGUAGES.map((name) => {
      const some = compared.filter(({ language, kind }) => language === name && isMeant(kind));
      return some.filter(({ score }) => score >= PASS).length / some.length;
    });
    const columns = shares.map((share) => share.toFixed(2).padStart(6));
    console.log(`  ${title.padEnd(26)}${columns.join("")}`);
  };
  console.log(
    `\n  ${"chat pairs".padEnd(26)}${LANGUAGES.map((name) => name.padStart(6)).join("")}`,
  );
  for (const title of new Set(pairs.map(({ kind }) => kind))) {
    print(title, (kind) => kind === title);
  }
  print("- contradictions", (kind) => CONTRADICTIONS.split(", ").includes(kind.slice(2)));
  print("- no answers", (kind) => NON_ANSWERS.split(", ").includes(kind.slice(2)));
}

async function readPairs(language: string): Promise<Pair[][]> {
  const [hard, graded] = await Promise.all([
    readLines(`equivalent_${language}.tsv`),
    readLines(`graded_${language}.tsv`),
  ]);
  const pair = (lines: string[][], column: number, shift = 0): Pair[] =>
    lines.map(([reference], at) => ({
      reference: reference!,
      reply: lines[(at + shift) % lines.length]![column]!,
    })).filter((_, at) => at % 2 === 1);
  return [
    pair(graded, 1),
    pair(hard, 1),
    pair(graded, 2),
    SHIFTS.flatMap((shift) => [...pair(hard, 1, shift), ...pair(graded, 1, shift)]),
  ];
}
