/** A tool that would help with what was said. The arguments are those of our own tools. */
export interface ToolWish {
  tool: "current_time" | "calculator";
  args: Record<string, string>;
}

/** How much of a message is looked at: a question is short, a pasted document is not. */
const LONGEST_QUESTION = 1_000;

/** The tools that a message asks for without naming them, the time first. */
export function readToolWishes(said: string): ToolWish[] {
  const text = said.slice(0, LONGEST_QUESTION);
  const wishes: ToolWish[] = [];
  if (TIME_QUESTION.test(text)) {
    wishes.push({ tool: "current_time", args: { time_zone: readTimeZone(text) } });
  }
  const expression = readSum(text);
  if (expression) wishes.push({ tool: "calculator", args: { expression } });
  return wishes;
}

const TIME_QUESTION = new RegExp(
  [
    /\bwhat(?:'?s| is)? (?:the )?(?:current |exact |local )?(?:time|date|day|weekday)\b(?! of)/,
    /\bwhich (?:week)?day\b/,
    /\btime is it\b/,
    /\b(?:current|today'?s) (?:time|date|day)\b/,
    /\btell me the (?:time|date)\b/,
    /^\s*(?:the )?(?:time|date) (?:in\b|now\b|please\b)/,
  ].map(({ source }) => source).join("|"),
  "i",
);

/** Places that no IANA zone is named after. */
const PLACES: Record<string, string> = {
  "beijing": "Asia/Shanghai",
  "boston": "America/New_York",
  "california": "America/Los_Angeles",
  "delhi": "Asia/Kolkata",
  "france": "Europe/Paris",
  "germany": "Europe/Berlin",
  "hamburg": "Europe/Berlin",
  "india": "Asia/Kolkata",
  "japan": "Asia/Tokyo",
  "kolkata": "Asia/Kolkata",
  "kyiv": "Europe/Kyiv",
  "mumbai": "Asia/Kolkata",
  "munich": "Europe/Berlin",
  "san francisco": "America/Los_Angeles",
  "seattle": "America/Los_Angeles",
  "spain": "Europe/Madrid",
  "uk": "Europe/London",
  "washington": "America/New_York",
};

/**
 * The zone that is named, or that a place lies in, else UTC. A place that nobody knows is passed on
 * as it is: the tool then says what is wrong with it.
 */
function readTimeZone(text: string): string {
  const named = /\b(?:[A-Z][A-Za-z]+|europe|asia|africa|america)(?:\/[\w+-]+){1,2}|\b(?:UTC|GMT)\b/
    .exec(text)?.[0];
  if (named) return named;
  const words = ` ${text.toLowerCase().replace(/[^\p{L}]+/gu, " ")} `;
  const isNamed = (place: string) => words.includes(` ${place} `);
  const place = Object.keys(PLACES).find(isNamed);
  if (place) return PLACES[place]!;
  const zone = Intl.supportedValuesOf("timeZone").find((zone) =>
    zone.includes("/") && isNamed(zone.split("/").at(-1)!.replaceAll("_", " ").toLowerCase())
  );
  return zone ?? /\bin (\p{Lu}[\p{L} ]*\p{L})/u.exec(text)?.[1] ?? "UTC";
}

const IN_WORDS: [RegExp, string][] = [
  [/\bdivided by\b|÷/gi, "/"],
  [/\bmultiplied by\b|\btimes\b|[×·]/gi, "*"],
  [/\bto the power of\b/gi, "^"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b|−/gi, "-"],
  [/\bsquare root of (\d+(?:\.\d+)?)/gi, "sqrt($1)"],
  [/(\d),(?=\d{3}\b)/g, "$1"],
  [/(\d)\s*x\s*(?=\d)/gi, "$1 * "],
];

const SUM =
  /(?:(?:sqrt|cbrt|abs|round|floor|ceil|exp|ln|log10|log2|log|sin|cos|tan)\s*(?=\()|\bpi\b|\d+(?:\.\d+)?|%\s*of\b|[-+*/^%!().,]|\s)+/gi;
const OPERATION = /\d\s*(?:[-+*/^!]|%\s*of|%\s*\d)|[a-z]\w*\s*\(\s*[\d(-]|\)\s*[-+*/^]/i;
const SUM_QUESTION =
  /\bwhat(?:'?s| is| are)\b|\b(?:how much|calculate|compute|work out|evaluate|solve|sum of)\b|=\s*\??\s*$/i;

/** The longest run of arithmetic in a message that asks for it or holds nothing else. */
function readSum(text: string): string | undefined {
  const plain = IN_WORDS.reduce((so, [words, sign]) => so.replace(words, sign), text);
  const dateless = plain.replace(/\b\d{4}-\d{2}-\d{2}\b/g, "date");
  const sums = (dateless.match(SUM) ?? [])
    .map((run) => run.trim().replace(/^[*/^%!,.)]+|[-+*/^(.,]+$/g, "").trim())
    .filter((run) => /\d/.test(run) && OPERATION.test(run));
  const sum = sums.toSorted((a, b) => b.length - a.length)[0];
  if (!sum) return undefined;
  const rest = dateless.replace(sum, "").replace(/[\s?!.=]+/g, "");
  return rest === "" || SUM_QUESTION.test(text) ? sum : undefined;
}
