import sentiment from "wink-sentiment";
import type { Scenario } from "../../shared/schemas/evaluate.ts";
import { rememberLast } from "../background/memo.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { Annotation, Annotator } from "./annotator.ts";
import { batchLabels, UNKNOWN } from "./label.ts";

/** Enough to tell the mood of a reply, and a bound on what one may cost. */
const MAX_CHARACTERS = 8000;
/** A model that is sure of itself gives many turns the same reply. */
const REMEMBERED = 64;
/** From here a mood is strong, for batches that tell strong from mild. */
const STRONG = 3;
const LEXICON_LABELS = ["positive", "neutral", "negative", "very positive", "very negative"];

const METHOD = "lexicon";

const readMood = rememberLast((text) => {
  const { score, normalizedScore } = sentiment(text);
  return { score, normalizedScore };
}, REMEMBERED);

/**
 * `positive`, `negative` or `neutral` by the AFINN word list, negation and emoji included; `very …`
 * only where the batch has such labels. The list is English: a text in another language is
 * `unknown`. Batches with labels of another kind (`joy`, `anger`) are for the few-shot annotator.
 */
export function createSentimentAnnotator(
  scenarios: Scenario[],
  semantics: BatchSemantics,
): Annotator {
  const labels = batchLabels("sentiment", scenarios);
  const spellings = new Map([...labels].map(([key, label]) => [key.replace(/[_-]/g, " "), label]));
  const isLexical = [...spellings.keys()].every((label) => LEXICON_LABELS.includes(label));
  const spell = (label: string) => spellings.get(label) ?? label;

  return {
    handles: (key) => key === "sentiment" && isLexical,
    async annotate(_key, { text }): Promise<Annotation> {
      if (!await semantics.isEnglish(text)) {
        return { value: UNKNOWN, method: METHOD, confidence: 0 };
      }
      const { score, normalizedScore } = readMood(text.slice(0, MAX_CHARACTERS));
      const confidence = Math.min(1, Math.abs(normalizedScore) / STRONG);
      if (score === 0) return { value: spell("neutral"), method: METHOD, confidence: 0.5 };
      const mood = score > 0 ? "positive" : "negative";
      const strong = `very ${mood}`;
      const isStrong = spellings.has(strong) && Math.abs(normalizedScore) >= STRONG;
      return { value: spell(isStrong ? strong : mood), method: METHOD, confidence };
    },
  };
}
