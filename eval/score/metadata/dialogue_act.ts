import type { BatchSemantics } from "../batch_semantics.ts";
import { type KeyAnnotator, noLabel } from "./annotator.ts";
import { labelKey } from "../../test/labels.ts";
import { isSameLabel } from "./label.ts";

const METHOD = "dialogue_act_rules";
/** Rounded down: over 95 % of the acts found in 400 replies of our own were right. */
const CONFIDENCE = 0.9;

interface Act {
  act: string;
  /** Other names that batches use for it. */
  names: string[];
  pattern: RegExp;
  /** Whether a reply with this act seldom has another act with a rule. */
  excludesOthers?: true;
}

const ACTS: Act[] = [
  {
    act: "greeting",
    names: ["greet", "hello", "welcome", "salutation", "opening"],
    pattern: /^\W*(hello|hi|hey|greetings|welcome|good (morning|afternoon|evening|day))\b/i,
    excludesOthers: true,
  },
  {
    act: "refusal",
    names: ["refuse", "decline", "rejection", "deny"],
    pattern:
      /\b(i|we)('m| am|'re| are)? (cannot|can't|can not|won't|will not|unable to|not able to|must decline)\b/i,
    excludesOthers: true,
  },
  {
    act: "apology",
    names: ["apologise", "apologize", "sorry"],
    pattern: /\b(sorry|apolog(y|ies|i[sz]e)|pardon|regret)\b/i,
  },
  {
    act: "farewell",
    names: ["goodbye", "bye", "closing", "parting"],
    pattern: /\b(good ?bye|bye|farewell|take care|have a (nice|good|great|lovely) \w+)\b/i,
    excludesOthers: true,
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
    excludesOthers: true,
  },
];

/** How many acts there are rules for. */
export const ACT_COUNT = ACTS.length;

/**
 * Rules for what an English reply does, for a key with a single label in the batch. A reply has the
 * label if its rule applies. It has another label only if the rule of an act applies that seldom
 * occurs with others; otherwise it has none, because the rules miss many acts (a third of
 * greetings, two thirds of refusals). `undefined` if there is no rule for the label.
 */
export function createDialogueActAnnotator(
  label: unknown,
  semantics: BatchSemantics,
): KeyAnnotator | undefined {
  const wanted = ACTS.find(({ act, names }) => [act, ...names].includes(labelKey(label)));
  if (!wanted) return undefined;

  async function read(text: string): Promise<{ value: unknown } | { reason: string }> {
    if (!await semantics.isEnglish(text)) return { reason: "the reply is not English" };
    const trimmed = text.trim();
    if (wanted!.pattern.test(trimmed)) return { value: label };
    const other = ACTS.find(({ excludesOthers, pattern }) =>
      excludesOthers && pattern.test(trimmed)
    );
    if (other) return { value: other.act };
    return { reason: `no rule decides whether the reply is ${wanted!.act}` };
  }

  return {
    method: METHOD,
    async annotate({ text }) {
      const found = await read(text);
      return "value" in found
        ? { value: found.value, method: METHOD, confidence: CONFIDENCE }
        : noLabel(METHOD, found.reason);
    },
    async relabel({ text }) {
      const found = await read(text);
      return "value" in found && isSameLabel(found.value, label) ? label : undefined;
    },
  };
}
