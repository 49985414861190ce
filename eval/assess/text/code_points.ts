/** A text's code points; half of a surrogate pair, where the other is missing, counts as one. */
export function codePoints(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!;
    if (point > 0xffff) i++;
    points.push(point);
  }
  return points;
}
