// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createBatchSemantics } from "../../eval/score/batch_semantics.ts";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { collectExamples } from "../../eval/score/metadata/label.ts";
import { createFewShot } from "../../eval/score/metadata/label_index.ts";
import { DEFAULT_PASS_THRESHOLD as PASS } from "../../eval/figures/passing.ts";
import type { Interaction } from "../../eval/test/scenario.ts";
import chatPairs from "../eval/score/agreement/data/chat_pairs.json" with { type: "json" };
import namePairs from "../eval/score/agreement/data/name_pairs.json" with { type: "json" };
import { compareAll, type Compared, type Ports, scenarioOf } from "./compared_pairs.ts";
import { report, sideBySide } from "./measure.ts";
import { createRandom, shuffle } from "./random.ts";
import { statedAnswers } from "./stated_answers.ts";

const INTENTS = 10;
const EXAMPLES = 5;
const QUESTIONS = 15;
const DRAWS = 8;

/** Pairs of each language, spread over its table. */
const PAIRS = 500;

/**
 * The scores against people's judgement, on public data that is not in the repository. `BENCH_DATA`
 * names a folder with `sts-dev.csv` (STS benchmark, development split), `b77-train.csv` (banking77,
 * training split) and `gsm-train.jsonl` (grade-school-math, training split). Its folders `sts` and
 * `nli` may have a table per language (`de.tsv`): two texts, then a grade from 0 to 5, or
 * `entailment`, `neutral` or `contradiction`. Missing files are skipped.
 */
export async function scoreQuality(): Promise<void> {
  const folder = Deno.env.get("BENCH_DATA") ?? "";
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`).catch(() => undefined);
  const [solved, sts, banking] = await Promise.all(
    ["gsm-train.jsonl", "sts-dev.csv", "b77-train.csv"].map(read),
  );
  if (solved === undefined) console.log("  not measured: no gsm-train.jsonl in BENCH_DATA");
  else statedAnswers(solved);
  using embedder = createLocalEmbedder();
  const ports = { embedder };
  await agreementShares(ports);
  if (sts === undefined) console.log("  not measured: no sts-dev.csv in BENCH_DATA");
  else await gradedPairs(sts, ports);
  await languages(folder, ports);
  if (banking === undefined) console.log("  not measured: no b77-train.csv in BENCH_DATA");
  else {
    report(
      `banking77, training split, ${INTENTS} intents × ${EXAMPLES} examples: accuracy over ${DRAWS} draws`,
      await bankingAccuracy(banking, ports),
      { atLeast: 0.9, digits: 4 },
    );
  }
}

/** The share of each kind that reaches 0.7, in the half used for development and in the other. */
async function agreementShares(ports: Ports): Promise<void> {
  const limits = { contradiction: { bound: 0.05 }, changed_value: { bound: 0.05 } };
  const { equivalent, padded } = chatPairs;
  const kinds = { ...chatPairs, "equivalent or padded": [...equivalent, ...padded], ...namePairs };
  for (const [kind, list] of Object.entries(kinds)) {
    const limit = limits[kind as keyof typeof limits] ?? {};
    for (const [at, half] of ["development", "other"].entries()) {
      const pairs = list.filter((_, index) => index % 2 === at)
        .map(([reference, reply]) => ({ reference: reference!, reply: reply! }));
      report(
        `pairs, ${kind}: share of the ${half} half that reaches ${PASS}`,
        sharePassing(await compareAll(pairs, ports)),
        limit,
      );
    }
  }
}

function share<T>(items: T[], isMeant: (item: T) => boolean): number {
  return items.filter(isMeant).length / items.length;
}

const passes = ({ score }: Compared) => score >= PASS;
const sharePassing = (compared: Compared[]) => share(compared, passes);

/** Tab-separated: the people's grade in column 5, the sentences in 6 and 7. */
async function gradedPairs(table: string, ports: Ports): Promise<void> {
  const rows = table.split("\n").filter(Boolean).map((line) => line.split("\t"));
  const pairs = rows.map((row) => ({ grade: Number(row[4]), reply: row[5]!, reference: row[6]! }));
  const graded = await compareAll(pairs, ports);
  const title = "STS benchmark, development split:";
  report(`${title} Spearman of semantic_similarity`, spearmanOf(graded), {
    atLeast: 0.87,
    digits: 4,
  });
  const reaching = (isMeant: (grade: number) => boolean) =>
    sharePassing(graded.filter(({ grade }) => isMeant(grade)));
  report(`${title} share graded 4 or more that reaches ${PASS}`, reaching((grade) => grade >= 4));
  report(`${title} share graded 1 or less that reaches ${PASS}`, reaching((grade) => grade <= 1));
}

/** The tables in the folders `sts` and `nli`, a line for each language. */
async function languages(folder: string, ports: Ports): Promise<void> {
  const print = (name: string, figures: (number | string)[]) =>
    console.log(
      `  ${name.padEnd(22)}${
        figures.map((figure) =>
          (typeof figure === "number" ? figure.toFixed(2) : figure).padStart(12)
        ).join("")
      }`,
    );
  print("graded pairs", ["Spearman", "0 to 1: 0.7", "1 to 2: 0.7", "4 to 5: 0.7", "mean 0 to 1"]);
  for await (const { language, rows } of tables(`${folder}/sts`)) {
    const graded = await compareAll(
      rows.map((row) => ({ ...row, grade: Number(row.label) })),
      ports,
    );
    const between = (from: number, to: number) =>
      graded.filter(({ grade }) => grade >= from && grade <= to);
    const low = between(0, 1);
    print(language, [
      spearmanOf(graded),
      sharePassing(low),
      sharePassing(between(1, 2)),
      sharePassing(between(4, 5)),
      low.reduce((sum, { score }) => sum + score, 0) / low.length,
    ]);
  }
  print("contradictions", ["precision", "recall", "reach 0.7", "entailed: 0.7", "wrongly"]);
  for await (const { language, rows } of tables(`${folder}/nli`)) {
    const compared = await compareAll(rows, ports);
    const labelled = (wanted: string) => compared.filter(({ label }) => label === wanted);
    const [opposite, entailed] = [labelled("contradiction"), labelled("entailment")];
    const called = compared.filter(({ contradicts }) => contradicts);
    print(language, [
      share(called, ({ label }) => label === "contradiction"),
      share(opposite, ({ contradicts }) => contradicts),
      sharePassing(opposite),
      sharePassing(entailed),
      share(entailed, ({ contradicts }) => contradicts),
    ]);
  }
}

/** The tables of a folder, if it exists, each as some of its rows. */
async function* tables(folder: string) {
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name).catch(() => []);
  for (const name of names.filter((name) => name.endsWith(".tsv")).sort()) {
    const lines = (await Deno.readTextFile(`${folder}/${name}`)).trim().split("\n");
    const every = Math.max(1, lines.length / PAIRS);
    const rows = Array.from({ length: Math.min(PAIRS, lines.length) }, (_, i) => {
      const [reference, reply, label] = lines[Math.floor(i * every)]!.split("\t");
      return { reference: reference!, reply: reply!, label: label! };
    });
    yield { language: name.slice(0, -4), rows };
  }
}

function spearmanOf(graded: { score: number; grade: number }[]): number {
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
    const { annotator } = createFewShot(collectExamples("intent", scenarios), semantics)!;
    const other = scenarioOf([{}]).interactions[0]!;
    await sideBySide(questions, 32, async ({ text, intent }) => {
      const { value } = await annotator.annotate({ text, interaction: other });
      asked++;
      if (value === intent) right++;
    });
  }
  return right / asked;
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
