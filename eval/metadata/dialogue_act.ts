import type { Scenario } from "../../shared/schemas/evaluate.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { Annotation, Annotator } from "./annotator.ts";
import { batchLabels, labelKey } from "./label.ts";

const METHOD = "dialogue_act_rules";
/** A rule says what it says: there is no more or less of it. */
const CONFIDENCE = 0.6;

/** What a sentence does, the first that fits; and other names that batches have for it. */
const ACTS: { act: string; names: string[]; pattern: RegExp }[] = [
  {
    act: "greeting",
    names: ["greet", "hello", "welcome", "salutation", "opening"],
    pattern: /^\W*(hello|hi|hey|greetings|welcome|good (morning|afternoon|evening|day))\b/i,
  },
  {
    act: "refusal",
    names: ["refuse", "decline", "rejection", "deny"],
    pattern:
      /\b(i|we)('m| am|'re| are)? (cannot|can't|can not|won't|will not|unable to|not able to|must decline)\b/i,
  },
  {
    act: "apology",
    names: ["apologise", "apologize", "sorry"],
    pattern: /\b(sorry|apolog(y|ies|i[sz]e)|pardon|regret)\b/i,
  },
  {
    act: "farewell",
    names: ["goodbye", "bye", "closing", "parting"],
    pattern: /\b(good ?bye|bye|farewell|see you|take care|have a (nice|good|great|lovely) \w+)\b/i,
  },
  {
    act: "thanks",
    names: ["thank", "thanking", "gratitude", "thank you"],
    pattern: /\b(thanks|thank you|much appreciated|grateful)\b/i,
  },
  {
    act: "confirmation",
    names: ["confirm", "affirm", "affirmation", "acknowledgement", "acknowledge", "agreement"],
    pattern: /^\W*(yes|yeah|sure|of course|certainly|absolutely|okay|ok|done|confirmed|correct)\b/i,
  },
  {
    act: "question",
    names: ["ask", "inquiry", "query", "clarification"],
    pattern: /\?\s*$/,
  },
  { act: "statement", names: ["inform", "information", "answer", "assertion"], pattern: /\w/ },
];

/** What an English reply does, by the first rule that fits it. */
export function dialogueAct(text: string): string | undefined {
  return ACTS.find(({ pattern }) => pattern.test(text.trim()))?.act;
}

/**
 * For a key with one label in the whole batch, where there is nothing to tell it from: rules for
 * what an English reply does. Abstains where the label is no such act, because then no rule can say
 * whether the reply has it.
 */
export function createDialogueActAnnotator(
  scenarios: Scenario[],
  semantics: BatchSemantics,
): Annotator {
  const abstention: Annotation = { value: undefined, method: METHOD, confidence: null };
  return {
    handles: (key) => batchLabels(key, scenarios).size === 1,
    async annotate(key, { text, interaction }) {
      const expected = interaction.reference_metadata[key];
      const wanted = ACTS.find(({ act, names }) => [act, ...names].includes(labelKey(expected)));
      if (!wanted || !await semantics.isEnglish(text)) return abstention;
      const found = dialogueAct(text);
      if (!found) return abstention;
      const value = found === wanted.act ? expected : found;
      return { value, method: METHOD, confidence: CONFIDENCE };
    },
  };
}
