/** Which model answers: the general assistant, or the fine-tuned one with its short answers. */
export type Voice = "assistant" | "support";

/** What an answer is made from. */
export interface DemoConversation {
  /** The last message of the user. */
  said: string;
  /** The messages of the user before it, oldest first. */
  earlier: string[];
  /** The tools' results since then. `given` are the call's arguments as JSON. */
  results: { tool: string; given: string; content: string }[];
}

interface Intent extends Record<Voice, (conversation: DemoConversation) => string> {
  when: RegExp;
}

/** Tried in order. If none matches, `OTHERWISE` answers. */
const INTENTS: Intent[] = [
  {
    when: /\b(what|who)('s|s| is| am| was)? (my name|i)\b|\b(know|remember) my name\b/i,
    assistant: (conversation) => {
      const name = nameIn(conversation);
      return name ? `Your name is ${name}.` : "You have not told me your name yet.";
    },
    support: (conversation) => nameIn(conversation) ?? "I do not have your name. What is it?",
  },
  {
    when:
      /\bwhat (did|was) (i|my)\b.*\b(ask|asked|say|said|question|message)\b|\b(last|previous) (question|message)\b/i,
    assistant: ({ earlier }) =>
      earlier.length > 0
        ? `Before this you said: ${quote(earlier.at(-1)!)}`
        : "This is the first thing that you have said to me.",
    support: ({ earlier }) => earlier.length > 0 ? quote(earlier.at(-1)!) : "Nothing before this.",
  },
  {
    when: /\bmy name is \p{L}/iu,
    assistant: (conversation) =>
      `Nice to meet you, ${nameIn(conversation)}! I will remember that for this conversation.`,
    support: (conversation) => `Thank you, ${nameIn(conversation)}. How can I help?`,
  },
  {
    when:
      /\b(who|what) are you\b|\bare you (an? )?(ai|bot|robot|human|model|real)\b|\byour name\b/i,
    assistant: () =>
      "I am Assay's embedded demo: a small program, not a language model. I can tell the time " +
      "anywhere, do sums and remember this conversation. Set HUB_BASE_URL to put a real model here.",
    support: () => "I am Assay's demo of a fine-tuned support model, not a real one.",
  },
  {
    when: /\b(thanks|thank you|thx|cheers)\b/i,
    assistant: () => "You are welcome! Is there anything else that I can do for you?",
    support: () => "You are welcome!",
  },
  {
    when: /\b(bye|goodbye|good night|see you|farewell)\b/i,
    assistant: (conversation) => `Goodbye${addressed(conversation)}! It was nice to talk to you.`,
    support: () => "Goodbye! Come back any time.",
  },
  {
    when: /\b(refund|money back|return (it|this|an?|my))\b/i,
    assistant: () =>
      "I am sorry that it did not work out. A refund usually needs your order number and the " +
      "reason; as a demo I cannot start one myself.",
    support: () => "Please send your order number; a refund takes 5 to 7 working days.",
  },
  {
    when: /\b(password|log ?in|sign ?in|locked out)\b/i,
    assistant: () =>
      "That is annoying. Most sites have a link called “Forgot password” on their sign-in page; " +
      "as a demo I cannot reset anything myself.",
    support: () =>
      "Please use “Forgot password” on the sign-in page; the link is valid for an hour.",
  },
  {
    when: /\b(my (order|parcel|package|delivery))\b/i,
    assistant: () =>
      "I understand that you are waiting for something. The confirmation mail usually has a link " +
      "to follow it; as a demo I cannot look it up.",
    support: () => "Please send your order number, and I will check where it is.",
  },
  {
    when: /\bhow are you\b|\bhow('s| is) it going\b/i,
    assistant: () => "I am fine, thank you! A demo has few worries. How can I help you today?",
    support: () => "Fine, thank you. How can I help you today?",
  },
  {
    when: /^\W*(hi|hello|hey|hallo|greetings|good (morning|afternoon|evening|day))\b/i,
    assistant: (conversation) =>
      `Hello${addressed(conversation)}! I am Assay's demo assistant. How can I help you today?`,
    support: (conversation) => `Hello${addressed(conversation)}! How can I help you today?`,
  },
  {
    when: /\bhelp\b|\bwhat can you do\b/i,
    assistant: () =>
      "Gladly. I am a demo, so it is little: ask me what time it is in Tokyo, what 17% of 240 is, " +
      "or what your name is once you have told me.",
    support: () => "Of course. Please describe the problem in a sentence.",
  },
  {
    when: /^\s*$/,
    assistant: () => "Hello! I am Assay's demo assistant. Say something, and I will answer.",
    support: () => "How can I help?",
  },
];

const OTHERWISE: Record<Voice, (conversation: DemoConversation) => string> = {
  assistant: ({ said }) =>
    said.trim().endsWith("?")
      ? `You asked: ${quote(said)} I am only a demo and do not know. I can tell the time in a ` +
        "city or do a sum; set HUB_BASE_URL to ask a real model."
      : `You said: ${quote(said)} I have noted it for this conversation; as a demo there is not ` +
        "much more that I can do with it.",
  support: ({ said }) => `Noted: ${quote(said)} This is a demo; a person would take it from here.`,
};

/** The model's answer, if no tool has to be called first. Never empty. */
export function demoAnswer(voice: Voice, conversation: DemoConversation): string {
  if (conversation.results.length > 0) {
    return conversation.results.map((result) => sayResult(voice, result)).join(" ");
  }
  const [call] = findToolCalls(conversation.said);
  if (call) return `I would need the tool ${call.tool} for that, and it was not offered to me.`;
  const intent = INTENTS.find(({ when }) => when.test(conversation.said.slice(0, 1_000)));
  return (intent ?? OTHERWISE)[voice](conversation);
}

const FAILED = /^\W*(error|cannot|can't|could not|failed|invalid|unknown|there is no|no such)\b/i;

function sayResult(
  voice: Voice,
  { tool, given, content }: DemoConversation["results"][number],
): string {
  const result = content.trim();
  if (FAILED.test(result)) return `I am sorry, that did not work. The tool ${tool} says: ${result}`;
  if (voice === "support") return `${result}.`;
  if (tool === "current_time") return `It is now ${result}.`;
  if (tool === "calculator") {
    return `${/"expression":"([^"\\]+)"/.exec(given)?.[1] ?? "That"} is ${result}.`;
  }
  return `The tool ${tool} says: ${result}`;
}

/** The last name that the user gave. */
function nameIn({ said, earlier }: DemoConversation): string | undefined {
  const given = /\bmy name is (\p{L}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*)/iu;
  return [...earlier, said].map((text) => given.exec(text.slice(0, 1_000))?.[1])
    .findLast((name) => name !== undefined);
}

function addressed(conversation: DemoConversation): string {
  const name = nameIn(conversation);
  return name ? `, ${name}` : "";
}

/** On one line, at most 120 characters. */
function quote(text: string): string {
  const characters = [...text.slice(0, 1_000).replace(/\s+/g, " ").trim()];
  return characters.length > 120
    ? `“${characters.slice(0, 119).join("")}…”`
    : `“${characters.join("")}”`;
}

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
