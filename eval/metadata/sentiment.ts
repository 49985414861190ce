import sentiment from "wink-sentiment";
import type { Annotator } from "./annotator.ts";

/** Enough to tell the mood of a reply, and a bound on what one may cost. */
const MAX_CHARACTERS = 20_000;

/** `positive`, `negative` or `neutral` by the AFINN word list, negation and emoji included. */
export const sentimentAnnotator: Annotator = {
  handles: (key) => key === "sentiment",
  annotate(_key, { text }) {
    const { score } = sentiment(text.slice(0, MAX_CHARACTERS));
    if (score === 0) return "neutral";
    return score > 0 ? "positive" : "negative";
  },
};
