import { GRAM, gramsOf, markShared, toWords, type WordedText } from "./worded_text.ts";

/** A text of a scenario: what the user says in a turn, or a reference. */
export interface TestText {
  scenario: number;
  turn: number;
  worded: WordedText;
  isReply: boolean;
}

/** A text of a row that may be a leak of a test. Its words are not kept: there are thousands. */
interface Candidate {
  row: number;
  text: string;
}

/** A run of words that more texts have than this, and than this share of them, is a template. */
const MANY = 20;
const MANY_SHARE = 0.002;
/** Counted by the end of a hash: an accident changes a count by one. */
const SLOTS = 2 ** 22;
/** Candidates that are kept: more than `MANY`, since a template is known only once it was counted. */
const KEPT_ALIKE = 48;
const KEPT_OVERLAPS = 64;
/** A word in more tests than this finds none of them. */
const COMMON_SHARE = 0.2;
const LEAST_COMMON = 20;
/** A text with less in common is no candidate. */
const LEAST_ALIKE = 0.2;

/**
 * Finds for each test the few training texts that are worth comparing, while these are read once:
 * those with runs of its words, and those with its rare words.
 */
export function createCandidates(tests: TestText[]) {
  const seen = new Set<number>();
  const gramCounts = new Uint32Array(SLOTS);
  const wordCounts = new Uint32Array(SLOTS);
  let texts = 0;
  const testsOfGram = new Map<number, number[]>();
  /** Of tests with fewer words than a run that counts. */
  const shortLengths = new Set<number>();
  const testsOfWord = new Map<number, number[]>();
  for (const [index, { worded, isReply }] of tests.entries()) {
    const { ids } = worded;
    if (ids.length < GRAM) shortLengths.add(ids.length);
    const keys = ids.length < GRAM ? [keyOf(ids)] : gramsOf(worded);
    for (const key of new Set(keys)) {
      testsOfGram.getOrInsertComputed(key, () => []).push(index);
    }
    if (isReply) continue; // their meaning is not compared
    for (const stem of new Set(worded.stems)) {
      testsOfWord.getOrInsertComputed(stem, () => []).push(index);
      wordCounts[stem % SLOTS]!++;
    }
  }
  for (const [stem, found] of testsOfWord) {
    if (found.length > Math.max(LEAST_COMMON, COMMON_SHARE * tests.length)) {
      testsOfWord.delete(stem);
    }
  }
  const overlaps = tests.map(() => createBest<Candidate>(KEPT_OVERLAPS));
  const alike = tests.map(() => createBest<Candidate>(KEPT_ALIKE));
  /** Reused, because there is one for each text. */
  const sums = new Float64Array(tests.length);

  const isTemplate = (gram: number) =>
    gramCounts[gram % SLOTS]! > Math.max(MANY, MANY_SHARE * texts);
  const sharedWords = (worded: WordedText) => markShared(worded, isTemplate);
  /** How much a word says, squared. */
  const weightOf = (stem: number) =>
    Math.log((texts + tests.length + 1) / (wordCounts[stem % SLOTS]! + 0.5)) ** 2;

  function findOverlaps(candidate: Candidate, worded: WordedText): void {
    const found = new Map<number, number>();
    const { ids } = worded;
    const keys = new Set(gramsOf(worded));
    for (const length of shortLengths) {
      for (let start = 0; start + length <= ids.length; start++) {
        keys.add(keyOf(ids.slice(start, start + length)));
      }
    }
    for (const key of keys) {
      const rarity = 1 / Math.max(1, gramCounts[key % SLOTS]!);
      for (const test of testsOfGram.get(key) ?? []) {
        found.set(test, (found.get(test) ?? 0) + rarity);
      }
    }
    for (const [test, rarity] of found) overlaps[test]!.add(candidate, rarity);
  }

  function ownStems(worded: WordedText): Set<number> {
    const shared = sharedWords(worded);
    return new Set(worded.stems.filter((_, at) => !shared[at]));
  }

  function findAlike(candidate: Candidate, worded: WordedText): void {
    const stems = ownStems(worded);
    const touched: number[] = [];
    let norm = 0;
    for (const stem of stems) {
      const weight = weightOf(stem);
      norm += weight;
      for (const test of testsOfWord.get(stem) ?? []) {
        if (sums[test] === 0) touched.push(test);
        sums[test]! += weight;
      }
    }
    for (const test of touched) {
      // The length of the test is the same for all of its candidates.
      alike[test]!.add(candidate, sums[test]! / Math.sqrt(norm));
      sums[test] = 0;
    }
  }

  return {
    add(row: number, text: string): void {
      const worded = toWords(text);
      const digest = digestOf(worded.ids);
      if (worded.ids.length === 0 || seen.has(digest)) return;
      seen.add(digest);
      texts++;
      for (const gram of new Set(gramsOf(worded))) gramCounts[gram % SLOTS]!++;
      for (const stem of new Set(worded.stems)) wordCounts[stem % SLOTS]!++;
      const candidate = { row, text };
      findOverlaps(candidate, worded);
      findAlike(candidate, worded);
    },

    /** Which words of a text are in a run that many texts have. */
    sharedWords,

    /** The texts that share runs of words with a test. */
    overlapping: (test: number) => overlaps[test]!.found().map(({ item }) => withWords(item)),

    /** The texts that share rare words with a test, and how much, from 0 to 1; the most first. */
    alike(test: number) {
      const wanted = ownStems(tests[test]!.worded);
      const size = sum(wanted);
      return alike[test]!.found().map(({ item }) => {
        const found = withWords(item);
        const stems = ownStems(found.worded);
        const both = sum([...stems].filter((stem) => wanted.has(stem)));
        return { ...found, alike: both === 0 ? 0 : both / Math.sqrt(size * sum(stems)) };
      }).filter(({ alike }) => alike >= LEAST_ALIKE).sort((a, b) => b.alike - a.alike);
    },
  };

  function sum(stems: Iterable<number>): number {
    let total = 0;
    for (const stem of stems) total += weightOf(stem);
    return total;
  }
}

function withWords({ row, text }: Candidate): { row: number; worded: WordedText } {
  return { row, worded: toWords(text) };
}

/** In 53 bits, so that a text of a hundred thousand is not taken for another one. */
function digestOf(ids: number[]): number {
  let high = 0;
  for (const id of ids) high = Math.imul(high ^ id, 0x5bd1e995) + 1;
  return (high >>> 11) * 2 ** 32 + keyOf(ids);
}

/** A number for all words of a text that is shorter than a run. */
function keyOf(ids: number[]): number {
  return ids.reduce((key, id) => Math.imul(key ^ id, 0x85ebca6b) + 1, ids.length) >>> 0;
}

/** Keeps the best of many. */
function createBest<T>(most: number) {
  let kept: { item: T; score: number }[] = [];
  const best = () => kept.sort((a, b) => b.score - a.score).slice(0, most);
  let least = -Infinity;
  return {
    add(item: T, score: number): void {
      if (score <= least) return;
      kept.push({ item, score });
      if (kept.length < 2 * most) return;
      kept = best();
      least = kept.at(-1)!.score;
    },
    found: () => kept = best(),
  };
}
