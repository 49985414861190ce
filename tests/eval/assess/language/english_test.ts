import { assertEquals } from "@std/assert";
import type {
  DetectedLanguage,
  LanguageDetector,
} from "../../../../eval/assess/language/detector.ts";
import { isEnglish } from "../../../../eval/assess/language/english.ts";

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

const CASES: [text: string, context: string, expected: boolean, why: string][] = [
  ["english text", "deutscher Text", true, "it is, whatever the batch is in"],
  ["deutscher Text", "english text", false, "it is reliably something else"],
  ["yes", "42", true, "a short text looks like it, and nothing speaks against it"],
  ["Hello", "42", false, "a short text does not look like it, and nothing speaks for it"],
  ["Hello", "english text", true, "a short text goes with the batch, which is English"],
  ["yes", "deutscher Text", false, "a short text goes with the batch, which is not"],
  ["42", "english text", false, "there is no language in it"],
];

for (const [text, context, expected, why] of CASES) {
  Deno.test(`the language gate says ${expected}: ${why}`, async () => {
    assertEquals(await isEnglish(text, { detector, context }), expected);
  });
}
