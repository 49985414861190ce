/** The series below needs no more terms than this for any value within ±8. */
const MOST_TERMS = 200;
const FARTHEST = 8;

/** The chance that a standard normal value is at most `x`; exact to 1e-14. */
export function normalCdf(x: number): number {
  if (x <= -FARTHEST) return 0;
  if (x >= FARTHEST) return 1;
  let term = x;
  let sum = x;
  for (let n = 1; n <= MOST_TERMS && Math.abs(term) > 1e-17; n++) {
    term *= x * x / (2 * n + 1);
    sum += term;
  }
  return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
}

/** The value that a standard normal one stays below with this chance, which is in (0, 1). */
export function normalQuantile(chance: number): number {
  let low = -FARTHEST;
  let high = FARTHEST;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < chance) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
