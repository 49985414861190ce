import { assertEquals } from "@std/assert";
import type {
  DetectedLanguage,
  LanguageDetector,
} from "../../../../eval/assess/language/detector.ts";
import { areEnglish } from "../../../../eval/assess/language/english.ts";

const KNOWN: Record<string, DetectedLanguage> = {
  "english text": { code: "en", isReliable: true },
  "deutscher Text": { code: "other", isReliable: true },
  "yes": { code: "en", isReliable: false },
  "Hello": { code: "other", isReliable: false },
  "42": { code: null, isReliable: false },
};

const detector: LanguageDetector = {
  detect: (text) => Promise.resolve(KNOWN[text]!),
  [Symbol.dispose]() {},
};

const CASES: [texts: string[], context: string, expected: boolean, why: string][] = [
  [["english text", "english text"], "42", true, "both are"],
  [["english text", "deutscher Text"], "english text", false, "one is reliably something else"],
  [["Hello", "english text"], "deutscher Text", true, "a short text goes with a reliable one"],
  [["Hello", "deutscher Text"], "english text", false, "also where that is another language"],
  [["yes", "yes"], "42", true, "short texts agree, and nothing speaks against it"],
  [["Hello", "yes"], "english text", true, "short texts disagree and the batch is English"],
  [["Hello", "yes"], "deutscher Text", false, "short texts disagree and the batch is not"],
  [["42", "42"], "english text", false, "there is no language in it"],
];

for (const [texts, context, expected, why] of CASES) {
  Deno.test(`the language gate says ${expected}: ${why}`, async () => {
    assertEquals(await areEnglish(texts, { detector, context }), expected);
  });
}
