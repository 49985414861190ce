import { Term } from "../../shared/pages/components/tip.tsx";
import { scoreLabel, scoreMeaning } from "./words.ts";

/** Words that not everybody knows, and what they mean. The longer one first, if two begin alike. */
const GLOSSARY: Record<string, string> = {
  "mean": "The mean of the score over the scenarios.",
  "95% interval":
    "If the test were drawn anew from the same kind of scenarios, the mean would lie in such an interval 95 times of 100.",
  "corrected for all pairs":
    "With many comparisons, one differs easily by chance. Holm's method raises every p for that.",
  "p": "The chance of such a difference if both were equally good.",
  "alpha":
    "Krippendorff's alpha: 1 if all agree, 0 if no more than by chance. From 0.8 on it is reliable.",
  "kappa": "Cohen's kappa: 1 if both always agree, 0 if no more than by chance.",
  "bias": "How much higher the score is than people's grades, on average.",
  "pass@k": "At least one of k attempts passes. It rises with k.",
  "pass^k": "All k attempts pass. It falls with k.",
  "at least once": "pass@k: at least one of k attempts passes. It rises with k.",
  "every time": "pass^k: all k attempts pass. It falls with k.",
  "standard error": "How far the mean is typically off by chance.",
  "standard deviation": "How far single values typically are from their mean.",
  "threshold": "The score from which a turn passes.",
  "version": "Its code is the start of the hash of its content: the same content has the same one.",
};

const ESCAPED = Object.keys(GLOSSARY).map((word) => word.replace("^", "\\^"));
const KNOWN = new RegExp(`(?<![\\w/])(${ESCAPED.join("|")})(?!\\w)`, "gi");

/** What a word of the glossary means. */
export function meaningOf(word: string): string | undefined {
  return GLOSSARY[word.toLowerCase()];
}

/** A text whose words of the glossary say what they mean, each at its first place. */
export function Explained({ text }: { text: string }) {
  const seen = new Set<string>();
  return (
    <>
      {text.split(KNOWN).map((part, index) => {
        const means = meaningOf(part);
        if (index % 2 === 0 || !means || seen.has(means)) return part;
        seen.add(means);
        return <Term key={index} means={means}>{part}</Term>;
      })}
    </>
  );
}

/** A score's name, with what it means. */
export function ScoreName({ name }: { name: string }) {
  const means = scoreMeaning(name);
  return means ? <Term means={means}>{scoreLabel(name)}</Term> : <>{scoreLabel(name)}</>;
}
