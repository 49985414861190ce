/** The normal distribution's 0.975 quantile. */
const Z = 1.959963984540054;

/** Above this many degrees the series below is exact to 1e-10, and the sum would be long. */
const SERIES_FROM = 200;

const known = new Map<number, number>();

/**
 * Student's t: the number that a t-distributed value exceeds in size with probability 0.05, for a
 * two-sided 95 % interval. `degrees` is a whole number from 1 on.
 */
export function studentT95(degrees: number): number {
  if (degrees >= SERIES_FROM) return series(degrees);
  let quantile = known.get(degrees);
  if (quantile === undefined) known.set(degrees, quantile = solve(degrees));
  return quantile;
}

/** Bisection on the angle θ = atan(t/√ν), in which the distribution is a finite sum. */
function solve(degrees: number): number {
  let low = 0;
  let high = Math.PI / 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (probabilityWithin(middle, degrees) < 0.95) low = middle;
    else high = middle;
  }
  return Math.sqrt(degrees) * Math.tan((low + high) / 2);
}

/** P(|T| < √ν·tan θ); Abramowitz and Stegun 26.7.3 for odd ν, 26.7.4 for even ν. */
function probabilityWithin(angle: number, degrees: number): number {
  const cosine = Math.cos(angle);
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * (k - 1) / k;
    sum += term;
  }
  const within = Math.sin(angle) * sum;
  return isOdd ? 2 / Math.PI * (angle + within) : within;
}

/** The asymptotic expansion about the normal quantile; Abramowitz and Stegun 26.7.5. */
function series(degrees: number): number {
  const z = (power: number) => Z ** power;
  return Z +
    (z(3) + Z) / (4 * degrees) +
    (5 * z(5) + 16 * z(3) + 3 * Z) / (96 * degrees ** 2) +
    (3 * z(7) + 19 * z(5) + 17 * z(3) - 15 * Z) / (384 * degrees ** 3) +
    (79 * z(9) + 776 * z(7) + 1482 * z(5) - 1920 * z(3) - 945 * Z) / (92160 * degrees ** 4);
}
