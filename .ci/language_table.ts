/** `deno task languages`: makes the table of `language.ts` from that of the package `eld`. */
import type { TableHead } from "../eval/score/language/language.ts";

export const TABLE = new URL("../eval/score/language/language_grams.bin", import.meta.url);

/** As in `language.ts`. */
const KEY_BYTES = 6;

interface PackageTable {
  languages: Record<string, string>;
  /** The score of each gram in each language that has it. */
  ngrams: Record<string, Record<string, number>>;
}

/**
 * A line of JSON, then the grams in ascending order, six bytes each and filled up with zeros, then
 * how many languages have each, then these: the number of the language and the score in it.
 */
export async function buildLanguageTable(): Promise<Uint8Array> {
  const { ngramsData }: { ngramsData: PackageTable } = await importPart("ngrams/small.js");
  const { avgScore } = await importPart("avgScore.js");
  const grams = await readGrams(ngramsData);
  const languages = Object.values(ngramsData.languages)
    .map((code) => ({ code, usual: avgScore[code] as number }));
  const head: TableHead = { languages, grams: grams.length };
  return Uint8Array.from([
    ...new TextEncoder().encode(`${JSON.stringify(head)}\n`),
    ...grams.flatMap(({ bytes }) => bytes),
    ...grams.map(({ scores }) => scores.length),
    ...grams.flatMap(({ scores }) => scores.flat()),
  ]);
}

async function readGrams({ ngrams }: PackageTable) {
  const { dictionary } = await importPart("dictionary.js");
  const byteOf = new Map<string, number>([..."abcdefghijklmnopqrstuvwxyz'` "]
    .map((character) => [character, character.charCodeAt(0)]));
  for (let byte = 0x80; byte <= 0xff; byte++) {
    if (dictionary[byte] !== " ") byteOf.set(dictionary[byte], byte);
  }
  return Object.entries(ngrams)
    .map(([gram, scores]) => ({
      bytes: Array.from(
        { length: KEY_BYTES },
        (_, i) => i < gram.length ? byteOf.get(gram[i]!)! : 0,
      ),
      scores: Object.entries(scores).map(([language, score]) => [Number(language), score]),
    }))
    .sort((left, right) => compareBytes(left.bytes, right.bytes));
}

function compareBytes(left: number[], right: number[]): number {
  const at = left.findIndex((byte, index) => byte !== right[index]);
  return at < 0 ? 0 : left[at]! - right[at]!;
}

/** A file of the package that it does not export. */
// deno-lint-ignore no-explicit-any -- the package has no types for them
async function importPart(path: string): Promise<any> {
  return await import(new URL(`../${path}`, import.meta.resolve("npm:eld@2.1.0/small")).href);
}

if (import.meta.main) await Deno.writeFile(TABLE, await buildLanguageTable());
