// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createMetadataReader } from "../../eval/score/metadata/annotation.ts";
import { createBatchSemantics } from "../../eval/score/batch_semantics.ts";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { planKey } from "../../eval/score/metadata/key_plan.ts";
import { SENTIMENT_MODEL } from "../../eval/score/metadata/sentiment.ts";
import type { Interaction, Scenario } from "../../eval/test/scenario.ts";
import { report } from "./measure.ts";
import { createRandom, shuffle } from "./random.ts";
import { readSentences } from "./sentiment_sentences.ts";

const DRAWS = 6;
const EXAMPLES = [1, 2, 3, 5];

type Ports = Parameters<typeof createBatchSemantics>[1];

/** A row of `data/reply_labels*.tsv`. */
interface Row {
  intent: string;
  reference: string;
  paraphrase: string;
  loose: string;
  /** A reply on the same subject with another label. */
  nearMiss: { intent: string; text: string };
}

/** An annotator's label, and whether it is right. */
interface Told {
  isGiven: boolean;
  isRight: boolean;
  /** Whether it has the label that the turn expects. */
  isMatch: boolean;
  /** Whether the key counts at the turn. */
  isCounted: boolean;
  confidence: number | null;
}

/**
 * Labels of replies, on data of our own. Weights and thresholds were fitted on `reply_labels.tsv`,
 * and the sentiment model was trained on `sentiment_train.txt`. Nothing was fitted on
 * `reply_labels_check.tsv`, but its figures were seen while variants were compared, so they are
 * somewhat favourable. `sentiment_check.txt` was measured after the model was final.
 */
export async function labelQuality(): Promise<void> {
  using embedder = createLocalEmbedder();
  const ports = { embedder };
  for (const file of ["reply_labels.tsv", "reply_labels_check.tsv"]) {
    console.log(`  ${file}`);
    await measureReplies(await readRows(file), ports);
  }
  await measureSentiment(ports);
}

async function readRows(name: string): Promise<Row[]> {
  const file = await Deno.readTextFile(new URL(`./data/${name}`, import.meta.url));
  return file.trim().split("\n").slice(1).map((line) => {
    const [intent, reference, paraphrase, loose, other, text] = line.split("\t") as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    return { intent, reference, paraphrase, loose, nearMiss: { intent: other, text } };
  });
}

async function measureReplies(rows: Row[], ports: Ports): Promise<void> {
  const random = createRandom(17);
  const told: Told[] = [];
  const keys = { kept: 0, rejected: 0, shuffledKept: 0, shuffledRejected: 0 };
  for (const examples of EXAMPLES) {
    const byKind = new Map<string, Told[]>();
    for (let draw = 0; draw < DRAWS; draw++) {
      const intents = [...new Set(rows.map(({ intent }) => intent))];
      const chosen = intents.flatMap((intent) =>
        shuffle(rows.filter((row) => row.intent === intent), random).slice(0, examples)
      );
      for (const [kind, answers] of await readReplies(chosen, { ports, random })) {
        byKind.set(kind, [...(byKind.get(kind) ?? []), ...answers]);
        if (kind !== "verbatim") told.push(...answers);
      }
      if (examples === 1) continue;
      const labels = shuffle(chosen.map(({ intent }) => intent), random);
      const isKept = await isLabelled(chosen.map((row) => row.intent), chosen, ports);
      const isShuffledKept = await isLabelled(labels, chosen, ports);
      keys[isKept ? "kept" : "rejected"]++;
      keys[isShuffledKept ? "shuffledKept" : "shuffledRejected"]++;
    }
    const parts = [...byKind].map(([kind, answers]) => describe(kind, answers));
    console.log(`  ${examples} examples: ${parts.join(" · ")}`);
    const given = [...byKind].flatMap(([kind, answers]) => kind === "verbatim" ? [] : answers)
      .filter(({ isGiven }) => isGiven);
    report(
      `labels that are right, of those given, ${examples} examples`,
      share(given, ({ isRight }) => isRight),
      { digits: 3 },
    );
    // At the others the annotator misreads the reference itself.
    const counted = byKind.get("verbatim")!.filter(({ isCounted }) => isCounted);
    const verbatim = share(counted, ({ isMatch }) => isMatch);
    report(`verbatim echo matched, ${examples} examples`, verbatim, { atLeast: 1, digits: 3 });
  }
  console.log(
    `  keys labelled: ${keys.kept} of ${keys.kept + keys.rejected}; ` +
      `with shuffled labels: ${keys.shuffledKept} of ${keys.shuffledKept + keys.shuffledRejected}`,
  );
  printCalibration(told);
}

/** Every turn is answered word for word, in other words, beside the point and by another turn. */
async function readReplies(
  rows: Row[],
  { ports, random }: { ports: Ports; random: () => number },
): Promise<Map<string, Told[]>> {
  const { turns, read } = createReader(
    rows.map(({ intent, reference }) => ({
      reference,
      metadata: { intent },
    })),
    ports,
  );
  const intents = new Set(rows.map(({ intent }) => intent));
  const byKind = new Map<string, Told[]>();
  for (const [at, row] of rows.entries()) {
    const other = shuffle(rows.filter(({ intent }) => intent !== row.intent), random)[0]!;
    const replies = [
      { kind: "verbatim", text: `${row.reference.toLowerCase()} `, intent: row.intent },
      { kind: "paraphrase", text: row.paraphrase, intent: row.intent },
      { kind: "loose paraphrase", text: row.loose, intent: row.intent },
      ...(intents.has(row.nearMiss.intent) ? [{ kind: "near miss", ...row.nearMiss }] : []),
      { kind: "another turn's answer", text: other.loose, intent: other.intent },
    ];
    for (const { kind, text, intent } of replies) {
      const { generatedMetadata, annotation } = await read({ text, interaction: turns[at]! });
      const found = generatedMetadata.intent;
      byKind.set(kind, [...(byKind.get(kind) ?? []), {
        isGiven: found !== undefined,
        isRight: found === intent,
        isMatch: found === row.intent,
        isCounted: annotation!.keys.intent!.counts !== false,
        confidence: annotation!.keys.intent!.confidence,
      }]);
    }
  }
  return byKind;
}

async function isLabelled(labels: string[], rows: Row[], ports: Ports): Promise<boolean> {
  const { scenarios } = createReader(
    rows.map(({ reference }, at) => ({ reference, metadata: { intent: labels[at] } })),
    ports,
  );
  const semantics = createBatchSemantics(scenarios, ports);
  const { annotator } = await planKey("intent", {
    scenarios,
    semantics,
    sentiment: SENTIMENT_MODEL,
  });
  return annotator !== undefined;
}

async function measureSentiment(ports: Ports): Promise<void> {
  const sentences = await readSentences("sentiment_check.txt");
  // Without references that could be learnt from: the model alone.
  const { turns, read } = createReader(
    sentences.map(({ sentiment }) => ({ reference: "", metadata: { sentiment } })),
    ports,
  );
  const told: Told[] = [];
  for (const [at, { text, sentiment }] of sentences.entries()) {
    const { generatedMetadata, annotation } = await read({ text, interaction: turns[at]! });
    const found = generatedMetadata.sentiment;
    const isRight = found === sentiment;
    const { confidence } = annotation!.keys.sentiment!;
    told.push({
      isGiven: found !== undefined,
      isRight,
      isMatch: isRight,
      isCounted: true,
      confidence,
    });
  }
  const given = told.filter(({ isGiven }) => isGiven);
  report("sentiment_check.txt: right of those given", share(given, ({ isRight }) => isRight), {
    atLeast: 0.8,
    digits: 3,
  });
  console.log(`  sentiment given: ${percent(share(told, ({ isGiven }) => isGiven))}`);
  printCalibration(told);
}

interface Labelled {
  reference: string;
  metadata: Interaction["reference_metadata"];
}

function createReader(labelled: Labelled[], ports: Ports) {
  const turns = labelled.map(({ reference, metadata }, at): Interaction => ({
    id: String(at),
    user_message: "",
    agent_reply: "",
    interaction_type: "opening",
    reference_reply: reference,
    reference_metadata: metadata,
    generated_metadata: {},
  }));
  const scenarios: Scenario[] = [{ id: "bench", description: "", interactions: turns }];
  const semantics = createBatchSemantics(scenarios, ports);
  const signal = new AbortController().signal;
  const { read } = createMetadataReader(scenarios, { semantics, judge: undefined, signal });
  return { turns, scenarios, read };
}

function describe(kind: string, told: Told[]): string {
  const isOther = kind === "near miss" || kind === "another turn's answer";
  const right = percent(share(told, ({ isRight }) => isRight));
  const match = isOther
    ? `, falsely matched ${percent(share(told, ({ isMatch }) => isMatch))}`
    : "";
  return `${kind} right ${right}${match}, none ${percent(share(told, ({ isGiven }) => !isGiven))}`;
}

/** How often labels of a stated confidence are right. */
function printCalibration(told: Told[]): void {
  const edges = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01];
  const bins = edges.slice(0, -1).map((low, at) => {
    const inside = told.filter(({ confidence }) =>
      confidence !== null && confidence >= low && confidence < edges[at + 1]!
    );
    return `${low}: ${percent(share(inside, ({ isRight }) => isRight))} of ${inside.length}`;
  });
  console.log(`  right at a confidence from ${bins.join(", ")}`);
}

function share(told: Told[], is: (told: Told) => boolean): number {
  return told.length === 0 ? NaN : told.filter(is).length / told.length;
}

function percent(value: number): string {
  return Number.isNaN(value) ? "–" : `${Math.round(100 * value)} %`;
}
