const DIGIT = /\p{Nd}/u;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** A number in groups of three, between which a narrow or no-break blank or an apostrophe stands. */
const GROUPED =
  /(?<![\p{Nd}.,])[1-9]\p{Nd}{0,2}(?:[\xa0\u2007\u2009\u202f'’]\p{Nd}{3})+(?!\p{Nd})/gu;

/** A text after NFKC with the digits and number marks of every script in ASCII: `٣٫٥` is `3.5`. */
export function asciiDigits(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  return text.replace(OTHER_DIGIT, valueOf).replaceAll("\u066b", ".").replaceAll("\u066c", ",");
}

/** A fraction in one sign, and the whole number before it: `½`, `1½`, `2 ¾`; no row of signs. */
const ONE_SIGN =
  /(?:(?<![\p{Nd}.,/¼½¾⅐-⅞])(\d{1,6}) ?)?(?<![¼½¾⅐-⅞])([¼½¾⅐-⅞])(?![\p{Nd}¼½¾⅐-⅞])/gu;
const PARTS = /^(\d+)\u2044(\d+)$/;

/** For NFKC `1½` is eleven halves. */
function withFractions(text: string): string {
  return text.replace(ONE_SIGN, (_, whole: string | undefined, sign: string) => {
    const [, above, below] = PARTS.exec(sign.normalize("NFKC"))!;
    return String(Number(whole ?? 0) + Number(above) / Number(below));
  });
}

/**
 * A text in which `1 234,50` and `1’234.50` are one number each, as is `1½`. Before NFKC, for which
 * every blank is the same: an ordinary one may stand between two numbers.
 */
export function joinGroups(text: string): string {
  return withFractions(text).replace(GROUPED, (number) => number.replace(/\P{Nd}/gu, ""));
}

/** Unicode has the ten digits of a script in a row, from zero on. */
function valueOf(digit: string): string {
  const point = digit.codePointAt(0)!;
  let zero = point;
  while (point - zero < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String(point - zero);
}
