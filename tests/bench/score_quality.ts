// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createBatchSemantics } from "../../eval/assess/batch_semantics.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { createFewShot } from "../../eval/assess/metadata/few_shot.ts";
import type { ScoredBatch, ScoreInput } from "../../eval/assess/scores/scorer.ts";
import { meaning, semanticSimilarity } from "../../eval/assess/scores/semantic_similarity.ts";
import { DEFAULT_PASS_THRESHOLD as PASS } from "../../eval/results/passing.ts";
import type { Interaction, Scenario } from "../../eval/schemas/scenario.ts";
import chatPairs from "../eval/assess/agreement/data/chat_pairs.json" with { type: "json" };
import namePairs from "../eval/assess/agreement/data/name_pairs.json" with { type: "json" };
import { report, sideBySide } from "./measure.ts";
import { createRandom, shuffle } from "./random.ts";
import { statedAnswers } from "./stated_answers.ts";

const INTENTS = 10;
const EXAMPLES = 5;
const QUESTIONS = 15;
const DRAWS = 8;

/**
 * The scores against people's judgement, on public data that is not in the repository. `BENCH_DATA`
 * names a folder with `sts-dev.csv` (STS benchmark, development split), `b77-train.csv` (banking77,
 * training split) and `gsm-train.jsonl` (grade-school-math, training split). Missing files are
 * skipped.
 */
export async function scoreQuality(): Promise<void> {
  const folder = Deno.env.get("BENCH_DATA") ?? "";
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`).catch(() => undefined);
  const [solved, sts, banking] = await Promise.all(
    ["gsm-train.jsonl", "sts-dev.csv", "b77-train.csv"].map(read),
  );
  if (solved === undefined) console.log("  not measured: no gsm-train.jsonl in BENCH_DATA");
  else statedAnswers(solved);
  if (sts === undefined || banking === undefined) {
    console.log("  not measured: no sts-dev.csv and b77-train.csv in BENCH_DATA");
    return;
  }
  using embedder = createLocalEmbedder();
  const ports = { embedder };
  await agreementShares(ports);
  const graded = await scoreSts(sts, ports);
  const title = "STS benchmark, development split:";
  report(`${title} Spearman of semantic_similarity`, spearmanOf(graded), {
    atLeast: 0.88,
    digits: 4,
  });
  const reaching = (grades: (grade: number) => boolean) => {
    const pairs = graded.filter(({ grade }) => grades(grade));
    return pairs.filter(({ score }) => score >= PASS).length / pairs.length;
  };
  report(`${title} share graded 4 or more that reaches ${PASS}`, reaching((grade) => grade >= 4));
  report(`${title} share graded 1 or less that reaches ${PASS}`, reaching((grade) => grade <= 1));
  report(
    `banking77, training split, ${INTENTS} intents × ${EXAMPLES} examples: accuracy over ${DRAWS} draws`,
    await bankingAccuracy(banking, ports),
    { atLeast: 0.9, digits: 4 },
  );
}

/** The share of each kind that reaches 0.7, in the half not used for development and in all. */
async function agreementShares(ports: Ports): Promise<void> {
  const limits = { contradiction: { bound: 0.05 }, changed_value: { bound: 0.05 } };
  const { equivalent, padded } = chatPairs;
  const kinds = { ...chatPairs, "equivalent or padded": [...equivalent, ...padded], ...namePairs };
  for (const [kind, list] of Object.entries(kinds)) {
    const limit = limits[kind as keyof typeof limits] ?? {};
    for (const [at, half] of ["development", "other"].entries()) {
      const pairs = list.filter((_, index) => index % 2 === at);
      report(
        `pairs, ${kind}: share of the ${half} half that reaches ${PASS}`,
        await sharePassing(pairs),
        limit,
      );
    }
  }

  async function sharePassing(half: string[][]): Promise<number> {
    const references = half.map(([reference_reply]) => ({ reference_reply: reference_reply! }));
    const semantics = createBatchSemantics([scenarioOf(references)], ports);
    const scorer = meaning.forBatch({ semantics, changed: {} } as unknown as ScoredBatch)!;
    let passing = 0;
    for (const [reference_reply, reply] of half) {
      const [interaction] = scenarioOf([{ reference_reply: reference_reply! }]).interactions;
      const { scores } = await scorer.score({ interaction, reply } as ScoreInput);
      if (scores.semantic_similarity! >= PASS) passing++;
    }
    return passing / half.length;
  }
}

type Ports = Parameters<typeof createBatchSemantics>[1];

interface GradedPair {
  /** By people, 0 to 5. */
  grade: number;
  score: number;
}

/** Tab-separated: the people's grade in column 5, the sentences in 6 and 7. */
async function scoreSts(table: string, ports: Ports): Promise<GradedPair[]> {
  const rows = table.split("\n").filter(Boolean).map((line) => line.split("\t"));
  const references = rows.map(([, , , , , , reference_reply]) => ({ reference_reply }));
  const semantics = createBatchSemantics([scenarioOf(references)], ports);
  const graded: GradedPair[] = new Array(rows.length);
  const methods = new Map<string, number>();
  await sideBySide(rows.entries(), 32, async ([index, row]) => {
    const pair = { reply: row[5]!, reference: row[6]! };
    const { value, method } = await semanticSimilarity(pair, semantics);
    graded[index] = { grade: Number(row[4]), score: value! };
    methods.set(method, (methods.get(method) ?? 0) + 1);
  });
  for (const [method, count] of methods) console.log(`  STS pairs by ${method}: ${count}`);
  return graded;
}

function spearmanOf(graded: GradedPair[]): number {
  return correlation(
    ranks(graded.map(({ score }) => score)),
    ranks(graded.map(({ grade }) => grade)),
  );
}

/**
 * Each draw takes other intents, other examples and other questions; the draws are the same ones
 * every time.
 */
async function bankingAccuracy(table: string, ports: Ports): Promise<number> {
  const byIntent = readBanking(table);
  const random = createRandom(1);
  let right = 0;
  let asked = 0;
  for (let draw = 0; draw < DRAWS; draw++) {
    const batch: Partial<Interaction>[] = [];
    const questions: { text: string; intent: string }[] = [];
    for (const intent of shuffle([...byIntent.keys()], random).slice(0, INTENTS)) {
      const texts = shuffle(byIntent.get(intent)!, random);
      for (const reference_reply of texts.slice(0, EXAMPLES)) {
        batch.push({ reference_reply, reference_metadata: { intent } });
      }
      for (const text of texts.slice(EXAMPLES, EXAMPLES + QUESTIONS)) {
        questions.push({ text, intent });
      }
    }
    const scenarios = [scenarioOf(batch)];
    const semantics = createBatchSemantics(scenarios, ports);
    const { annotator } = (await createFewShot("intent", { scenarios, semantics }))!;
    const other = scenarioOf([{}]).interactions[0]!;
    await sideBySide(questions, 32, async ({ text, intent }) => {
      const { value } = await annotator.annotate({ text, interaction: other });
      asked++;
      if (value === intent) right++;
    });
  }
  return right / asked;
}

function scenarioOf(turns: { [K in keyof Interaction]?: Interaction[K] | undefined }[]): Scenario {
  const interactions = turns.map((turn, index) => ({
    id: String(index),
    user_message: "",
    agent_reply: "",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
    ...turn,
  }));
  return { id: "bench", description: "", interactions: interactions as Interaction[] };
}

/** `text,intent`, the text in quotes if it has a comma or a line break. */
function readBanking(table: string): Map<string, string[]> {
  const byIntent = new Map<string, string[]>();
  const rows = table.matchAll(/^(?:"((?:[^"]|"")*)"|([^,\n]*)),([^,\n]+)$/gm);
  for (const [, quoted, plain, intent] of rows) {
    if (intent === "category") continue;
    const texts = byIntent.get(intent!.trim()) ?? [];
    texts.push((quoted?.replaceAll('""', '"') ?? plain!).trim());
    byIntent.set(intent!.trim(), texts);
  }
  return byIntent;
}

/** Ranks, counted from 0; equal values share the mean of theirs. */
function ranks(values: number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const result: number[] = new Array(values.length);
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && order[end]!.value === order[start]!.value) end++;
    for (const { index } of order.slice(start, end)) result[index] = (start + end - 1) / 2;
  }
  return result;
}

function correlation(left: number[], right: number[]): number {
  const centred = [left, right].map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((value) => value - mean);
  });
  const product = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
  const [x, y] = centred as [number[], number[]];
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}
