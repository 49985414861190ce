/** What Krippendorff's alpha is worth, after his own advice. */
export function describeAlpha(alpha: number | null): string {
  if (alpha === null) return "not defined: too few grades, or all the same";
  if (alpha >= 0.8) return "reliable";
  return alpha >= 0.667 ? "enough for careful conclusions" : "too low to rely on";
}
