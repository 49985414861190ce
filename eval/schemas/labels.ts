import { z } from "zod";

/**
 * How many of the batch's own references a key's annotator labels right, each treated as a reply
 * that it has not seen (leave-one-out). `accuracy` is `null` if there was nothing to check with. If
 * it is clearly below `floor`, the key is not labelled in this batch.
 */
export const SelfCheck = z.object({
  right: z.number(),
  of: z.number(),
  accuracy: z.number().nullable(),
  floor: z.number(),
}).meta({ id: "SelfCheck" });
export type SelfCheck = z.infer<typeof SelfCheck>;

/**
 * What became of a metadata key's expected labels: expected → found → how often. `flip_rate` is the
 * share of pairs of attempts that disagree about the same turn; `null` without such a pair.
 * `self_check` is there if the service's own annotators label the key.
 */
export const LabelReport = z.object({
  confusion: z.record(z.string(), z.record(z.string(), z.number())),
  flip_rate: z.number().nullable(),
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
  /** `false`: the key takes no part in `metadata_match`, decided from the batch before any reply. */
  counts: z.literal(false).optional(),
  self_check: SelfCheck.optional(),
}).meta({ id: "AnnotationNote" });

/** How the generated metadata was found: over all keys (the lowest confidence), and for each. */
export const Annotation = AnnotationNote.extend({ keys: z.record(z.string(), AnnotationNote) })
  .meta({ id: "Annotation" });
export type Annotation = z.infer<typeof Annotation>;

/** Digits that every number keeps: longer ones, such as the number of a card, are texts. */
const EXACT_DIGITS = 15;

/**
 * What two labels are compared by: text trimmed and without regard to letter case, numbers by their
 * value, whether written as text or not, and anything else by its JSON.
 */
export function labelKey(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  const text = value.normalize("NFC").trim();
  const number = Number(text);
  const isNumber = text !== "" && Number.isFinite(number) &&
    text.replace(/\D/g, "").length <= EXACT_DIGITS;
  return isNumber ? String(number) : text.toLowerCase();
}

/** Stands for the label of a reply in which none was found. */
export const NO_LABEL = "(none)";
/** Stands for the label of a turn that failed: there was no reply to read it from. */
export const FAILED_LABEL = "(failed)";
