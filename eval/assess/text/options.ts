/** A letter by itself, in whatever signs: `B`, `(b)`, `**B.**`. I is rather the pronoun. */
const ALONE = /^[^\p{L}\p{N}]*([A-HJ])[^\p{L}\p{N}]*$/iu;
/** `B) Paris`, `b: Paris`. With a point it may be an initial. */
const LEADING = /^[^\p{L}\p{N}]*([A-HJ])\s?[):](?!\/)/iu;
/** "The answer is (B)", "Option B", "Antwort: B", "答案是B"; not "the answer is B or C". */
const NAMED =
  /(?<!\p{L})(?:[Aa]nswer|[Oo]ption|[Cc]hoice|Antwort|[Rr]éponse|[Rr]espuesta|[Oo]pción|[Rr]isposta|[Rr]esposta|[Оо]твет|答案|选项|選項|答え|正解)(?:\s+(?:is|ist|est|es|è|é)(?=\s))?(?:是|为|為|は)?[\s:：—–"“'(*[]*([A-HJ])(?![\p{L}\p{N}'’-]|\s+(?:or|oder|ou|o|или)\s)/gu;
/** Any letter that stands by itself; not the article, as in "A cat", but "A is right". */
const LETTER =
  /(?<![\p{L}\p{N}'’-])(?!A\s(?!(?:is|and|or|because)\b)\p{Ll})[A-HJ](?![\p{L}\p{N}'’-])/gu;

/** The letter of an option if a text is nothing else. */
export function loneOption(text: string): string | undefined {
  return ALONE.exec(text)?.[1]?.toUpperCase();
}

/** The option that a text chooses; `undefined` if it names none, or several. */
export function optionOf(text: string): string | undefined {
  const alone = loneOption(text);
  if (alone) return alone;
  const named = [
    LEADING.exec(text)?.[1]?.toUpperCase(),
    ...[...text.matchAll(NAMED)].map(([, letter]) => letter),
  ];
  const letters = new Set(named.filter((letter) => letter !== undefined));
  return letters.size === 1 ? [...letters][0] : undefined;
}

/** How far a text chooses an option: 1, or the letter's share if it has several; 0 without it. */
export function chooses(text: string, option: string): number {
  const chosen = optionOf(text);
  if (chosen !== undefined) return chosen === option ? 1 : 0;
  const letters = new Set(text.match(LETTER) ?? []);
  return letters.has(option) ? 1 / letters.size : 0;
}
