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
