// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { words } from "../../eval/score/words.ts";
import { findLeaks } from "../../eval/figures/leaks/find_leaks.ts";
import type { LeakedScenario } from "../../eval/test/leaks.ts";
import type { Scenario } from "../../eval/test/scenario.ts";
import type { LeakMeasurement } from "./leaks_process.ts";
import { report } from "./measure.ts";
import { createRandom, shuffle } from "./random.ts";

/** Finding tests in a training file: the time and memory, and what is found of what was planted. */
export async function leaks(): Promise<void> {
  await cost();
  await quality();
}

async function cost(): Promise<void> {
  const script = new URL("leaks_process.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", script],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("finding leaks failed");
  const { tests, rows, seconds, processor, readSeconds, rss, stretch }: LeakMeasurement = JSON
    .parse(
      new TextDecoder().decode(stdout),
    );
  report(`${tests} scenarios against ${rows} rows`, seconds, { unit: "s", bound: 60, digits: 1 });
  report("processor time", processor, { unit: "s", digits: 1 });
  report("seconds before the encoder", readSeconds, { unit: "s", digits: 1 });
  report("memory of the process", rss / 2 ** 20, { unit: "MB", bound: 500, digits: 0 });
  report("longest stretch without the event loop", stretch, { unit: "ms", digits: 0 });
}

/** A question of the tests, and what was planted of it in the training file. */
interface Question {
  text: string;
  kind: "rest" | "template" | "copy" | "paraphrase by rule" | "paraphrase by people";
  planted?: string;
}

const PART = 25;
const EACH = 200;
const TEMPLATE = "You work for a bank that has shops in many towns. Answer in one sentence: ";

/**
 * Banking77's training split in three parts by intent, so that what is left of the tests has no
 * true leak: questions of which nothing is planted, questions that are planted as copies and
 * paraphrases, and the training file. Thresholds were chosen on the even half of the questions.
 */
async function quality(): Promise<void> {
  const folder = Deno.env.get("BENCH_DATA") ?? "";
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`).catch(() => undefined);
  const [banking, sts] = await Promise.all(["b77-train.csv", "sts-dev.csv"].map(read));
  if (banking === undefined || sts === undefined) {
    console.log("  not measured: no b77-train.csv and sts-dev.csv in BENCH_DATA");
    return;
  }
  const random = createRandom(7);
  const rows = shuffle(readBanking(banking), random);
  const intents = shuffle([...new Set(rows.map(({ intent }) => intent))], random);
  const partOf = (from: number, to = intents.length) => {
    const own = new Set(intents.slice(from, to));
    return rows.filter(({ intent }) => own.has(intent)).map(({ text }) => text);
  };
  const [rest, toPlant, training] = [partOf(0, PART), partOf(PART, 2 * PART), partOf(2 * PART)];
  const paraphrased = toPlant.flatMap((text, index) => {
    const planted = paraphrase(text, index);
    return planted === undefined ? [] : [{ text, planted }];
  }).slice(0, EACH);
  const known = new Set(paraphrased.map(({ text }) => text));
  const copied = toPlant.filter((text) => !known.has(text) && words(text).length >= 5);
  const all: Question[] = [
    ...rest.slice(0, 2 * EACH).map((text) => ({ text, kind: "rest" as const })),
    ...rest.slice(2 * EACH, 3 * EACH)
      .map((text) => ({ text: TEMPLATE + text, kind: "template" as const })),
    ...copied.slice(0, EACH)
      .map((text, index) => ({ text, kind: "copy" as const, planted: copy(text, index) })),
    ...paraphrased.map((pair) => ({ ...pair, kind: "paraphrase by rule" as const })),
    ...readSame(sts).map((pair) => ({ ...pair, kind: "paraphrase by people" as const })),
  ];
  const file = shuffle([
    ...training.map((text, index) => index % 2 ? TEMPLATE + text : text),
    ...all.flatMap(({ planted }) => planted ?? []),
  ], random);
  using embedder = createLocalEmbedder({ workers: 2 });
  const found = await findLeaks(all.map(toScenario), asRows(file), {
    embedder,
    signal: new AbortController().signal,
  });
  for (const [half, name] of [[0, "chosen on"], [1, "measured on"]] as const) {
    const own = all.map((question, index) => ({ question, found: found[index]! }))
      .filter((_, index) => index % 2 === half);
    console.log(`  the half that thresholds were ${name}:`);
    reportHalf(own, half === 1);
  }
}

function reportHalf(own: { question: Question; found: LeakedScenario }[], isBound: boolean): void {
  const share = (kinds: Question["kind"][], isFound: (found: LeakedScenario) => boolean) => {
    const of = own.filter(({ question }) => kinds.includes(question.kind));
    return of.filter(({ found }) => isFound(found)).length / of.length;
  };
  const isLeak = ({ verdict }: LeakedScenario) => verdict !== "none";
  const percent = { unit: "%", digits: 1 };
  const say = (what: string, value: number, bound: { atLeast?: number; bound?: number } = {}) =>
    report(`  ${what}`, 100 * value, { ...percent, ...(isBound && bound) });
  say(
    "copies found word for word",
    share(["copy"], ({ verdict }) => verdict === "word_for_word"),
    { atLeast: 100 },
  );
  const [rule, people] = ["paraphrase by rule", "paraphrase by people"] as const;
  say("paraphrases found", share([rule, people], isLeak), { atLeast: 90 });
  say("of those, by rule", share([rule], isLeak));
  say("of those, by people (STS, 4.5 or more)", share([people], isLeak));
  say("false among the rest", share(["rest", "template"], isLeak), { bound: 2 });
  say("of those, with the template of many rows", share(["template"], isLeak));
}

const toScenario = ({ text }: Question, index: number): Scenario => ({
  id: String(index),
  description: "",
  interactions: [{
    id: "1",
    user_message: text,
    agent_reply: "",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
  }],
});

async function* asRows(texts: string[]) {
  for (const [index, text] of texts.entries()) yield { row: index + 1, text };
}

function readBanking(csv: string): { text: string; intent: string }[] {
  return [...csv.matchAll(/^(?:"((?:[^"]|"")*)"|([^"\n]*)),(\w+)$/gm)].slice(1)
    .map(([, quoted, plain, intent = ""]) => ({
      text: (quoted?.replaceAll('""', '"') ?? plain ?? "").trim(),
      intent,
    })).filter(({ text }) => words(text).length >= 4);
}

/** Pairs of STS that people call equal, and that differ in words. */
function readSame(sts: string): { text: string; planted: string }[] {
  return sts.trim().split("\n").map((line) => line.split("\t"))
    .filter(([, , , , grade]) => Number(grade) >= 4.5)
    .map(([, , , , , text = "", planted = ""]) => ({ text, planted }))
    .filter(({ text, planted }) =>
      [text, planted].every((one) => words(one).length >= 4) &&
      words(text).join() !== words(planted).join()
    );
}

/** As it is, in other letters, in a template, within a sentence of its own, in a longer text. */
function copy(text: string, index: number): string {
  const inText = words(text).length >= 8;
  const forms = [
    text,
    text.toUpperCase().replaceAll(/[.,?!]/g, " "),
    TEMPLATE + text,
    `Ticket ${1000 + index}: ${text}\nThanks, customer ${index}`,
    inText ? `after ${index} days she wrote ${text} and then nothing at all` : text,
  ];
  return forms[index % forms.length]!;
}

/** Words that say the same. At least two are replaced. */
const SAME: [RegExp, string][] = [
  [/\bcan I\b/i, "am I able to"],
  [/\bhow do I\b/i, "how can I"],
  [/\bI'm\b/i, "I am"],
  [/\bI've\b/i, "I have"],
  [/\b(do|does|did|has|have|is|was|were)n['’]?t\b/i, "$1 not"],
  [/\bcan't\b/i, "cannot"],
  [/\bneed to\b/i, "have to"],
  [/\bwant to\b/i, "would like to"],
  [/\btell me\b/i, "let me know"],
  [/\bmoney\b/i, "funds"],
  [/\bbuy\b/i, "purchase"],
  [/\bsomeone\b/i, "somebody"],
  [/\bchoose\b/i, "pick"],
  [/\bhappened\b/i, "occurred"],
  [/\bphone\b/i, "mobile"],
  [/\breceived\b/i, "got"],
  [/\bmistake\b/i, "error"],
  [/\bwrong\b/i, "incorrect"],
  [/\bthink\b/i, "believe"],
  [/\btell\b/i, "say"],
];
const FRAMES = [
  (text: string) => text,
  (text: string) => `Hi, ${text}`,
  (text: string) => `${text.replace(/[.?!]+$/, "")}, please?`,
  (text: string) => `I have a question: ${text}`,
];

function paraphrase(text: string, index: number): string | undefined {
  const used = SAME.filter(([word]) => word.test(text));
  if (used.length < 2) return undefined;
  const changed = used.reduce((said, [word, other]) => said.replace(word, other), text);
  return FRAMES[index % FRAMES.length]!(changed);
}
