/** A letter by itself, in whatever signs: `B`, `(b)`, `**B.**`. I is rather the pronoun. */
const ALONE = /^[^\p{L}\p{N}]*([A-HJ])[^\p{L}\p{N}]*$/iu;
/** `B) Paris`, `b: Paris`. With a point it may be an initial. */
const LEADING = /^[^\p{L}\p{N}]*([A-HJ])\s?[):](?!\/)/iu;
/** "The answer is (B)", "Option B", "Antwort: B", "答案是B", `\boxed{B}`; not "the answer is B or C". */
const NAMED =
  /(?:\\boxed\{|(?<!\p{L})(?:[Aa]nswer|[Oo]ption|[Cc]hoice|Antwort|[Rr]éponse|[Rr]espuesta|[Oo]pción|[Rr]isposta|[Rr]esposta|[Оо]твет|答案|选项|選項|答え|正解)(?:\s+(?:is|ist|est|es|è|é)(?=\s))?(?:是|为|為|は)?)[\s:：—–"“'(*[]*([A-HJ])(?![\p{L}\p{N}'’-]|\s+(?:or|oder|ou|o|или)\s)/gu;
/** Any letter that stands by itself; not the article, as in "A cat", but "A is right". */
const LETTER =
  /(?<![\p{L}\p{N}'’-])(?!A\s(?!(?:is|and|or|because)\b)\p{Ll})[A-HJ](?![\p{L}\p{N}'’-])/gu;
/** "Not B", "neither A nor B", "rather than B", "Option B" with a denial before it. */
const DENIED_BEFORE =
  /(?:\b(?:not|nor|neither|never|than|except|nicht|pas|niet)|n['’]t|不是|(?<!\p{L})не)\s(?:be\s)?(?:(?:the\s)?(?:option|answer|choice)\s)?[("'*[]*$/iu;
/** "B is wrong", "B is not right", "(B) isn't" */
const DENIED_BEHIND =
  /^[)"'*\].,]*\s(?:is|was|are|would be|seems)(?:\s(?:clearly|also|simply))?(?:n['’]t|\s(?:not|wrong|incorrect|false|out))(?!\p{L})/iu;

/** The letter of an option if a text is nothing else. */
export function loneOption(text: string): string | undefined {
  return ALONE.exec(text)?.[1]?.toUpperCase();
}

/** How far a text chooses an option: 1, or the letter's share if it leaves several; 0 without it. */
export function chooses(text: string, option: string): number {
  const chosen = optionOf(text);
  if (chosen !== undefined) return chosen === option ? 1 : 0;
  const letters = new Set(lettersIn(text));
  return letters.has(option) ? 1 / letters.size : 0;
}

/** The option that a text chooses, the last one that it names as such; `undefined` without one. */
function optionOf(text: string): string | undefined {
  const alone = loneOption(text);
  if (alone) return alone;
  const named = [...text.matchAll(NAMED)].filter((match) => {
    const at = match.index + match[0].length - 1;
    return !isDenied(text, at) && !isDenied(text, match.index);
  });
  const [, last] = named.at(-1) ?? [];
  const [, leading] = LEADING.exec(text) ?? [];
  return last ??
    (leading && lettersIn(text).every((letter) => letter === leading.toUpperCase())
      ? leading.toUpperCase()
      : undefined);
}

/** The letters that stand by themselves and are not denied. */
function lettersIn(text: string): string[] {
  return [...text.matchAll(LETTER)].filter(({ index }) => !isDenied(text, index))
    .map(([letter]) => letter);
}

function isDenied(text: string, at: number): boolean {
  return DENIED_BEFORE.test(text.slice(Math.max(0, at - 30), at)) ||
    DENIED_BEHIND.test(text.slice(at + 1, at + 40));
}
