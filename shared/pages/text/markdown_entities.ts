const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  mdash: "—",
  ndash: "–",
  hellip: "…",
};

/** Markdown allows HTML's character references; these are the ones that models write. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi,
    (whole, ten, hex, name) => {
      if (name) return Object.hasOwn(NAMED, name) ? NAMED[name]! : whole;
      const code = ten ? Number(ten) : parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
