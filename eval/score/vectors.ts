/** In [−1, 1]; 0 if a vector has length 0. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  for (let i = 0; i < left.length; i++) {
    const [x, y] = [left[i]!, right[i] ?? 0];
    product += x * y;
    leftSquares += x * x;
    rightSquares += y * y;
  }
  const length = Math.sqrt(leftSquares * rightSquares);
  return length === 0 ? 0 : product / length;
}

/** Normalises a vector to length 1; a zero vector stays as it is. */
export function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(product(vector, vector));
  if (length === 0) return vector;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i++) unit[i] = vector[i]! / length;
  return unit;
}

/** The sum of the normalised vectors, so that each has the same weight. */
export function pool(vectors: Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const unit of vectors.map(toUnit)) {
    for (let i = 0; i < sum.length; i++) sum[i]! += unit[i]!;
  }
  return sum;
}

/** The inner product of two vectors with equally many dimensions. */
export function product(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i]! * right[i]!;
  return sum;
}

/**
 * The inner products of a vector with some others, four at a time: the processor computes four sums
 * in about the time of one. Each equals that of `product`.
 */
export function products(vector: Float32Array, others: readonly Float32Array[]): number[] {
  const found: number[] = [];
  let at = 0;
  for (; at + 4 <= others.length; at += 4) {
    const [a, b, c, d] = [others[at]!, others[at + 1]!, others[at + 2]!, others[at + 3]!];
    let [toA, toB, toC, toD] = [0, 0, 0, 0];
    for (let i = 0; i < vector.length; i++) {
      const value = vector[i]!;
      toA += value * a[i]!;
      toB += value * b[i]!;
      toC += value * c[i]!;
      toD += value * d[i]!;
    }
    found.push(toA, toB, toC, toD);
  }
  for (; at < others.length; at++) found.push(product(vector, others[at]!));
  return found;
}
