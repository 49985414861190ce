import { z } from "zod";

/**
 * How many of the batch's references a key's annotator labels correctly, each treated as an unseen
 * reply (leave-one-out). `accuracy` is `null` without references. If it is clearly below `floor`,
 * the key is not labelled in this batch.
 */
export const SelfCheck = z.object({
  right: z.number(),
  of: z.number(),
  accuracy: z.number().nullable(),
  floor: z.number(),
}).meta({ id: "SelfCheck" });
export type SelfCheck = z.infer<typeof SelfCheck>;

/**
 * The labels of a metadata key: `confusion` is expected → found → count. `flip_rate` is the share
 * of pairs of attempts that disagree about a turn; `null` without such pairs. `self_check` is set
 * if the service's own annotators label the key. `counts` is the number of turns at which the key
 * counts, `of` all that have it.
 */
export const LabelReport = z.object({
  confusion: z.record(z.string(), z.record(z.string(), z.number())),
  flip_rate: z.number().nullable(),
  counts: z.number(),
  of: z.number(),
  self_check: SelfCheck.optional(),
}).meta({ id: "LabelReport" });
export type LabelReport = z.infer<typeof LabelReport>;

const AnnotationNote = z.object({
  method: z.string(),
  confidence: z.number().nullable(),
  /** Why there is no label. */
  reason: z.string().optional(),
  /** `true`: the judge says that none of the batch's labels fits, so that the match is 0. */
  none_fits: z.literal(true).optional(),
  /**
   * `false`: the key is not part of `metadata_match`. This depends on the batch, not on replies.
   */
  counts: z.literal(false).optional(),
  self_check: SelfCheck.optional(),
}).meta({ id: "AnnotationNote" });

/**
 * How the generated metadata was found: for all keys (with the lowest confidence), and for each.
 */
export const Annotation = AnnotationNote.extend({ keys: z.record(z.string(), AnnotationNote) })
  .meta({ id: "Annotation" });
export type Annotation = z.infer<typeof Annotation>;

/** Methods of labels: found by sentence vectors, or chosen by a judge. */
export const FEW_SHOT = "few_shot";
export const JUDGE_LABELS = "judge";
/** Taken from a reference with the same text, or from the turn's, which says the same. */
export const SAME_TEXT = "same_text";
export const SAME_MEANING = "same_meaning";

/** Numbers with more digits, such as those of cards, are compared as texts. */
const EXACT_DIGITS = 15;

/**
 * Labels with the same key are equal: text is trimmed and ignores case, numbers are compared by
 * value even if written as text, and anything else by its JSON.
 */
export function labelKey(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  const text = value.normalize("NFC").trim();
  const number = Number(text);
  const isNumber = text !== "" && Number.isFinite(number) &&
    text.replace(/\D/g, "").length <= EXACT_DIGITS;
  return isNumber ? String(number) : text.toLowerCase();
}

/** Replaces the label of a reply in which none was found. */
export const NO_LABEL = "(none)";
/** Replaces the label of a failed turn. */
export const FAILED_LABEL = "(failed)";
