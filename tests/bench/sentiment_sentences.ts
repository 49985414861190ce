import { createRandom } from "./random.ts";

export const SENTIMENTS = ["positive", "neutral", "negative"] as const;
export type Sentiment = (typeof SENTIMENTS)[number];

export interface LabelledSentence {
  text: string;
  sentiment: Sentiment;
}

/** A file of `data/`: a heading names the sentiment of the lines below it. */
export async function readSentences(name: string): Promise<LabelledSentence[]> {
  const file = await Deno.readTextFile(new URL(`./data/${name}`, import.meta.url));
  const sentences: LabelledSentence[] = [];
  let sentiment: Sentiment | undefined;
  for (const line of file.split("\n")) {
    if (line.startsWith("## ")) sentiment = SENTIMENTS.find((label) => label === line.slice(3));
    else if (line !== "" && !line.startsWith("#")) {
      if (!sentiment) throw new Error(`${name}: "${line}" stands below no sentiment`);
      sentences.push({ text: line, sentiment });
    }
  }
  return sentences;
}

const GOOD =
  "wonderful great excellent lovely delightful superb brilliant charming enjoyable satisfying refreshing impressive amusing touching elegant generous reliable beautiful fantastic outstanding pleasant clever engaging perfect kind helpful thrilling joyful sweet exciting smart comfortable delicious hilarious captivating";
const BAD =
  "terrible awful horrible boring disappointing dreadful annoying stupid ugly painful useless rude dirty cheap tedious confusing frustrating broken sad scary disgusting pathetic ridiculous clumsy lazy unfair worthless miserable tasteless shallow messy pointless embarrassing unpleasant mediocre";
const PLAIN = "blue wooden digital weekly annual local round metal Spanish printed second outdoor";
const THINGS = "film meal service book room idea phone game song trip staff story app show car";

const SAID = [
  "The {thing} was {word}.",
  "What a {word} {thing}!",
  "It is a really {word} {thing}.",
  "a {word} {thing}",
  "I found the {thing} {word} and so did my friends.",
];
const DENIED = [
  "The {thing} is not {word}.",
  "It wasn't a {word} {thing} at all.",
  "I don't think the {thing} is {word}.",
];
const NOTED = [
  "The {thing} was about a {word} house.",
  "There is a {word} one next to the {thing}.",
  "The {thing} comes with a {word} box.",
  "It is the {word} {thing}.",
];

/** Positive, negative and neutral words in plain sentences, also negated; always the same ones. */
export function phraseSentences(): LabelledSentence[] {
  const random = createRandom(21);
  const pick = (items: string[]) => items[Math.floor(random() * items.length)]!;
  const phrase = (forms: string[], word: string, sentiment: Sentiment): LabelledSentence => ({
    text: pick(forms).replace("{thing}", pick(THINGS.split(" "))).replace("{word}", word),
    sentiment,
  });
  const both = (words: string, said: Sentiment, denied: Sentiment) =>
    words.split(" ").flatMap((word) => [
      phrase(SAID, word, said),
      phrase(SAID, word, said),
      phrase(DENIED, word, denied),
    ]);
  return [
    ...both(GOOD, "positive", "negative"),
    ...both(BAD, "negative", "positive"),
    ...PLAIN.split(" ").flatMap((word) =>
      Array.from({ length: 4 }, () => phrase(NOTED, word, "neutral"))
    ),
  ];
}
