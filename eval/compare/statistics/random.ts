/**
 * A seeded source of 32 random bits per call (sfc32): the same seed gives the same sequence on every
 * machine, which `Math.random` does not. Not for secrets.
 */
export function createRandom(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = () => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result | 0;
    return result >>> 0;
  };
  for (let warmup = 0; warmup < 12; warmup++) next(); // seeds that are close start far apart
  return next;
}
