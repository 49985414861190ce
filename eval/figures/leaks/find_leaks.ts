import pLimit from "p-limit";
import type { Embedder } from "../../score/scoring_ports.ts";
import { mean } from "../../score/mean.ts";
import { product, toUnit } from "../../score/vectors.ts";
import { referencesOf } from "../../score/references.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import type { LeakedScenario, LeakMatch, LeakVerdict } from "../../test/leaks.ts";
import type { Scenario } from "../../test/scenario.ts";
import { createCandidates, type TestText } from "./candidates.ts";
import { longestRun } from "./longest_run.ts";
import type { TrainingText } from "./training_texts.ts";
import { partsOf, toWords, type WordedText } from "./worded_text.ts";

/** A run of as many words is no accident. */
const LONG_RUN = 13;
/** The share of a text that a shorter run has to cover, and from where on it may stand anywhere. */
const COVERED = 0.9;
const SHORT_TEXT = 8;
/** Fewer words say too little: in a first turn, in a later one, and in a reply. */
const LEAST_FIRST = 3;
const LEAST_LATER = 6;
const LEAST_REPLY = 8;
/** The same for texts whose meanings are compared. */
const LEAST_MEANT = 4;

/**
 * How near two texts are: the cosine of their vectors, how far it stands out from the next ones, the
 * rare words that they share, and less if they contradict each other. Chosen on one half of the pairs
 * of `tests/bench/leaks.ts`.
 */
const NEAR = { standsOut: 0.5, words: 0.27, contradicts: 0.3, threshold: 1.126 };
/** The cosine of a question with others of its field, if the file has fewer than `OTHERS`. */
const USUAL = 0.7;
const OTHERS = 3;
/** Texts that are encoded for each test. */
const ENCODED = 5;
const AT_ONCE = 16;

/**
 * Which scenarios a training file has, word for word or nearly. What many of its rows share does not
 * count. Nothing but the encoder is asked.
 */
export async function findLeaks(
  scenarios: Scenario[],
  training: AsyncIterable<TrainingText>,
  { embedder, signal }: { embedder: Embedder; signal: AbortSignal },
): Promise<LeakedScenario[]> {
  const tests = scenarios.flatMap((scenario, index) => [...testTextsOf(scenario, index)]);
  const candidates = createCandidates(tests);
  for await (const { row, text } of training) {
    for (const part of partsOf(text)) candidates.add(row, part);
    signal.throwIfAborted();
  }
  const judge = createJudge(embedder, candidates);
  const pause = createYielder();
  const atOnce = pLimit(AT_ONCE); // so that the encoder remembers what it compares
  const found = await Promise.all(
    tests.map((test, index) =>
      atOnce(async () => {
        while (pause.isDue()) await pause();
        signal.throwIfAborted();
        return { test, ...await judge(test, index) };
      })
    ),
  );
  const byScenario = Map.groupBy(found, ({ test }) => test.scenario);
  return scenarios.map(({ id }, scenario) => {
    const parts = byScenario.get(scenario) ?? [];
    const worst = parts.toSorted((a, b) =>
      rank(b.verdict) - rank(a.verdict) ||
      (b.match?.similarity ?? 0) - (a.match?.similarity ?? 0)
    )[0];
    return {
      scenario,
      scenario_id: id,
      verdict: worst?.verdict ?? "none",
      turn: worst?.test.turn ?? 0,
      test: worst?.test.worded.text ?? "",
      match: worst?.match ?? null,
    };
  });
}

const VERDICTS: LeakVerdict[] = ["none", "near", "word_for_word"];
const rank = (verdict: LeakVerdict) => VERDICTS.indexOf(verdict);

function* testTextsOf({ interactions }: Scenario, scenario: number): Generator<TestText> {
  for (const [turn, interaction] of interactions.entries()) {
    const least = turn === 0 ? LEAST_FIRST : LEAST_LATER;
    for (const part of partsOf(interaction.user_message)) {
      const worded = toWords(part);
      if (worded.ids.length >= least) yield { scenario, turn, worded, isReply: false };
    }
    for (const reference of referencesOf(interaction)) {
      for (const part of partsOf(reference)) {
        const worded = toWords(part);
        if (worded.ids.length >= LEAST_REPLY) yield { scenario, turn, worded, isReply: true };
      }
    }
  }
}

interface Judged {
  verdict: LeakVerdict;
  match: LeakMatch | null;
}

function createJudge(embedder: Embedder, candidates: ReturnType<typeof createCandidates>) {
  const vectorOf = async (text: string) => toUnit(await embedder.embed(text));

  function wordForWord(test: TestText, index: number): Judged | undefined {
    const shared = candidates.sharedWords(test.worded);
    const own = shared.filter((isShared) => !isShared).length;
    let longest: { run: number; match: LeakMatch } | undefined;
    for (const { row, worded } of candidates.overlapping(index)) {
      const run = longestRun(
        { worded: test.worded, shared },
        { worded, shared: candidates.sharedWords(worded) },
      );
      const isCopy = run.length >= LONG_RUN ||
        (run.length >= COVERED * own && (own >= SHORT_TEXT || run.isWhole));
      if (!isCopy || own === 0 || run.length <= (longest?.run ?? 0)) continue;
      const match = { row, text: worded.text, words: run.length, similarity: 1 };
      longest = { run: run.length, match };
    }
    return longest && { verdict: "word_for_word", match: longest.match };
  }

  async function near(test: TestText, index: number): Promise<Judged> {
    const isMeant = test.turn === 0 || test.worded.ids.length >= LEAST_LATER;
    const nearest = candidates.alike(index).slice(0, ENCODED);
    if (test.isReply || !isMeant || nearest.length === 0) return { verdict: "none", match: null };
    const text = ownText(test.worded, candidates);
    if (toWords(text).ids.length < LEAST_MEANT) return { verdict: "none", match: null };
    const vector = await vectorOf(text);
    const compared = await Promise.all(nearest.map(async (one) => {
      const text = ownText(one.worded, candidates);
      return { ...one, text, cosine: text === "" ? 0 : product(vector, await vectorOf(text)) };
    }));
    compared.sort((a, b) => b.cosine - a.cosine);
    const [best, ...others] = compared;
    const usual = mean(
      Array.from({ length: OTHERS }, (_, place) => others[place]?.cosine ?? USUAL),
    )!;
    const { agreement } = await embedder.compare!({ reply: best!.text, reference: text });
    const similarity = best!.cosine + NEAR.standsOut * (best!.cosine - usual) +
      NEAR.words * best!.alike - NEAR.contradicts * (agreement?.contradicts ?? 0);
    return {
      verdict: similarity >= NEAR.threshold ? "near" : "none",
      match: { row: best!.row, text: best!.worded.text, words: 0, similarity: best!.cosine },
    };
  }

  return async (test: TestText, index: number) =>
    wordForWord(test, index) ?? await near(test, index);
}

/** A text without what many rows share. */
function ownText(
  worded: WordedText,
  { sharedWords }: Pick<ReturnType<typeof createCandidates>, "sharedWords">,
): string {
  const shared = sharedWords(worded);
  return shared.includes(true)
    ? worded.spelt.filter((_, at) => !shared[at]).join(" ")
    : worded.text;
}
