/**
 * What two labels are compared by: text trimmed and without regard to letter case, numbers by their
 * value, whether written as text or not, and anything else by its JSON.
 */
export function labelKey(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  const text = value.normalize("NFC").trim();
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? String(number) : text.toLowerCase();
}

/** Stands for the label of a reply in which none was found. */
export const NO_LABEL = "(none)";
/** Stands for the label of a turn that failed: there was no reply to read it from. */
export const FAILED_LABEL = "(failed)";
