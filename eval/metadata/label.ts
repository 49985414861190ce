import type { Scenario } from "../../shared/schemas/evaluate.ts";

/** The value of an annotator that knows the text but not its label: another language, say. */
export const UNKNOWN = "unknown";

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

/** The labels that a batch's references carry for a key, by `labelKey`, as they were first written. */
export function batchLabels(key: string, scenarios: Scenario[]): Map<string, unknown> {
  const labels = new Map<string, unknown>();
  for (const { interactions } of scenarios) {
    for (const { reference_metadata } of interactions) {
      if (!Object.hasOwn(reference_metadata, key)) continue;
      const label = reference_metadata[key];
      if (!labels.has(labelKey(label))) labels.set(labelKey(label), label);
    }
  }
  return labels;
}

/** `order_status`, `orderStatus` and `order-status` in words. */
export function labelWords(label: unknown): string {
  return String(label).replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/[_\-./]+/g, " ").trim();
}
