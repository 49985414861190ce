const DIGIT = /\p{Nd}/u;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;

/** A text after NFKC with the digits and number marks of every script in ASCII: `٣٫٥` is `3.5`. */
export function asciiDigits(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  return text.replace(OTHER_DIGIT, valueOf).replaceAll("\u066b", ".").replaceAll("\u066c", ",");
}

/** Unicode has the ten digits of a script in a row, from zero on. */
function valueOf(digit: string): string {
  const point = digit.codePointAt(0)!;
  let zero = point;
  while (point - zero < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String(point - zero);
}
