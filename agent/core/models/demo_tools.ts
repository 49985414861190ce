/** A call of a built-in tool that would answer a message. */
interface DemoToolCall {
  tool: "current_time" | "calculator";
  args: Record<string, string>;
}

/** Characters of a message that are read: a question is short, a pasted document is not. */
const MAX_QUESTION = 1_000;

/** The tool calls that would answer a message; the time comes first. */
export function findToolCalls(said: string): DemoToolCall[] {
  const text = said.slice(0, MAX_QUESTION);
  const calls: DemoToolCall[] = [];
  if (TIME_QUESTION.test(text)) {
    calls.push({ tool: "current_time", args: { time_zone: readTimeZone(text) } });
  }
  const expression = readSum(text);
  if (expression) calls.push({ tool: "calculator", args: { expression } });
  return calls;
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

/** Places without an IANA zone of their name. */
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
 * The named zone, or the zone of the named place, else UTC. An unknown place is returned unchanged:
 * the tool's error then explains it.
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

/** The longest arithmetic expression in a message that asks for it or contains nothing else. */
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
