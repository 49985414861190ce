import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { createBatchSemantics } from "../../../../eval/score/batch_semantics.ts";
import type { Embedder } from "../../../../eval/score/scoring_ports.ts";
import { createLocalEmbedder } from "../../../../eval/score/local_encoder.ts";
import { createDialogueActAnnotator } from "../../../../eval/score/metadata/dialogue_act.ts";
import { collectExamples, isSameLabel } from "../../../../eval/score/metadata/label.ts";
import {
  createFewShot,
  createLabelIndex,
  createLabelVectors,
} from "../../../../eval/score/metadata/label_index.ts";
import {
  areSentiments,
  createSentimentAnnotator,
  readSentiment,
  SENTIMENT_MODEL,
  type SentimentModel,
} from "../../../../eval/score/metadata/sentiment.ts";
import type { Interaction } from "../../../../eval/test/scenario.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

Deno.test("labels of digits are the same by their value, and long ones by every digit", () => {
  assert(isSameLabel("5", 5) && isSameLabel("5.0", "5"));
  assert(!isSameLabel("4111111111111111111", "4111111111111111112"));
  assert(!isSameLabel("9007199254740993", "9007199254740992"));
  assert(isSameLabel(" 4111111111111111111", "4111111111111111111"));
});

const TEXTS = ["the refund reaches the card", "a refund takes days", "money back to the card"];
const REPLY = "a refund to the card takes days";
const without = (left: number) => TEXTS.filter((_, at) => at !== left);
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

Deno.test("leaving an example out is as if it had never been there", async () => {
  const { embedder } = fakeEmbedder();
  const words = "money";
  const reply = await embedder.embed(REPLY);
  const all = await createLabelVectors({ texts: TEXTS, words }, embedder);
  const less = await Promise.all(TEXTS.map(async (_, left) => {
    const label = await createLabelVectors({ texts: without(left), words }, embedder);
    return label.nearness(reply);
  }));
  for (const left of TEXTS.keys()) {
    assertAlmostEquals(all.evenNearness(reply, left), less[left]!, 1e-5);
  }
  assertAlmostEquals(all.evenNearness(reply, undefined), mean(less), 1e-5);
  assertNotEquals(all.evenNearness(reply, 1), all.nearness(reply));
  const one = await createLabelVectors({ texts: [REPLY], words }, embedder);
  assertAlmostEquals(one.evenNearness(reply, 0), one.nearness(reply), 1e-9);
});

Deno.test("two examples of one text count as two when one of them is left out", async () => {
  const { embedder } = fakeEmbedder();
  const reply = await embedder.embed(REPLY);
  const label = await createLabelVectors({ texts: [REPLY, REPLY, TEXTS[0]!], words: "" }, embedder);
  const less = await createLabelVectors({ texts: [REPLY, TEXTS[0]!], words: "" }, embedder);
  assertAlmostEquals(label.evenNearness(reply, 0), less.nearness(reply), 1e-5);
});

const turn = (label: unknown, reference_reply: string) =>
  interaction(reference_reply, { reference_reply, reference_metadata: { topic: label } });

/** The groups of a batch, and what it knows of meaning. */
function setUp(turns: Interaction[], more: Partial<Embedder> = {}) {
  const scenarios = [scenario("s", turns)];
  const { embedder } = fakeEmbedder(more);
  const semantics = createBatchSemantics(scenarios, { embedder });
  return [collectExamples("topic", scenarios), semantics] as const;
}

async function read(turns: Interaction[], text: string, more: Partial<Embedder> = {}) {
  const fewShot = createFewShot(...setUp(turns, more));
  return await fewShot!.annotator.annotate({ text, interaction: interaction("other") });
}

async function scoreOf(turns: Interaction[], text: string): Promise<number> {
  const index = createLabelIndex(...setUp(turns));
  return (await index({ text, interaction: interaction("other") }))[0]!.score;
}

const TURNS = [
  turn("money", "the refund reaches the card"),
  turn("money", "a refund takes days"),
  turn("parcel", "the parcel arrives soon"),
];

Deno.test("a label's score is the documented sum", async () => {
  const score = await scoreOf([turn("cash desk", "a b"), turn("cash desk", "c d")], "a b");
  // Vectors of words: nearest 1, with the sum of both examples and the label's words 1/√3.
  assertAlmostEquals(score, 0.75 / Math.sqrt(3) + 0.25, 1e-6);
});

Deno.test("the label's own words are one more example", async () => {
  assertAlmostEquals(await scoreOf([turn("cash_desk", "")], "cash desk"), 1, 1e-6);
});

Deno.test("the nearest label is given, with the chance that it is right", async () => {
  const { value, method, confidence } = await read(TURNS, "the refund takes days");
  assertEquals([value, method], ["money", "few_shot"]);
  assert(confidence! > 0.5 && confidence! < 1);
});

Deno.test("a label keeps its type", async () => {
  const turns = [turn(1, "the refund"), turn(2, "the parcel arrives")];
  assertEquals((await read(turns, "parcel arrives")).value, 2);
});

Deno.test("a reply that is near no label, or to two alike, has none, with the reason", async () => {
  const far = await read(TURNS, "bananas grow slowly");
  assertEquals([far.value, far.confidence, far.reason], [
    undefined,
    null,
    "no label is near enough",
  ]);
  const labels = ["qq", "zz", "jj"];
  const alike = labels.map((label) => turn(label, `the parcel arrives ${label}`));
  const between = await read(alike, "the parcel arrives");
  assertEquals([between.value, between.reason], [undefined, "two labels are about equally near"]);
});

Deno.test("labels are found in every language", async () => {
  const german = [turn("geld", "Die Rückzahlung läuft"), turn("paket", "Das Päckchen ist da")];
  assertEquals((await read(german, "Ihre Rückzahlung läuft")).value, "geld");
});

Deno.test("without the encoder there is no label by another method", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  await assertRejects(() => read(TURNS, "the refund takes days", failing), Error, "no weights");
});

Deno.test("a batch with examples of fewer than two labels is not for it", () => {
  assertEquals(createFewShot(...setUp([turn("a", "text"), turn("b", " ")])), undefined);
});

Deno.test("a second example of a label does not take the first one's place", async () => {
  const first = turn("money", "the refund reaches the card");
  const turns = [first, turn("money", "cash"), turn("parcel", "the parcel arrives at a door")];
  const fewShot = createFewShot(...setUp(turns));
  const reply = { text: "the refund reaches the card now", interaction: first };
  assertEquals((await fewShot!.annotator.annotate(reply)).value, "money");
});

Deno.test("a reference is relabelled without itself, and every other label is short of one too", async () => {
  const turns = [
    turn("x", "apple pear"),
    turn("x", "apple plum"),
    turn("y", "train bus"),
    turn("y", "train car"),
  ];
  const { annotator, checkable } = (createFewShot(...setUp(turns)))!;
  assertEquals(checkable.length, 4);
  for (const example of checkable) assertEquals(await annotator.relabel(example), example.label);
});

Deno.test("only references whose label has another text can be checked", () => {
  const turns = [turn("x", "apple"), turn("y", "train"), turn("y", "Train!"), turn("z", "a")];
  assertEquals((createFewShot(...setUp(turns)))!.checkable, []);
});

Deno.test("the check of a large batch takes a sample, the same one each time", async () => {
  const turns = Array.from({ length: 3000 }, (_, at) => turn(`label ${at % 100}`, `text ${at}`));
  const [one, two] = await Promise.all([0, 1].map(() => createFewShot(...setUp(turns))));
  assert(one!.checkable.length >= 30 && one!.checkable.length <= 200);
  assertEquals(one!.checkable.map(({ text }) => text), two!.checkable.map(({ text }) => text));
});

function createAnnotator(label: unknown) {
  const { embedder } = fakeEmbedder();
  const batch = [scenario("s", [interaction("i")])];
  const semantics = createBatchSemantics(batch, { embedder });
  return createDialogueActAnnotator(label, semantics);
}

function annotate(label: string, text: string) {
  return createAnnotator(label)!.annotate({ text, interaction: interaction("i") });
}

/** `undefined`: the rules must give no label. */
const CASES: [label: string, text: string, value: string | undefined][] = [
  ["greeting", "Hello! How can I help you today?", "greeting"],
  ["greeting", "Good morning, what can I do for you?", "greeting"],
  ["farewell", "Goodbye, and take care!", "farewell"],
  ["thanks", "Thank you for waiting.", "thanks"],
  ["apology", "I'm sorry for the delay.", "apology"],
  ["apology", "I'm sorry, I can't do that.", "apology"],
  ["refusal", "I'm sorry, I can't do that.", "refusal"],
  ["refusal", "We are unable to refund this order.", "refusal"],
  ["confirmation", "Yes, your order is confirmed.", "confirmation"],
  ["question", "Which colour would you like?", "question"],
  ["Greet", "Hello there!", "Greet"],
  // Clearly something else.
  ["greeting", "Goodbye, see you tomorrow.", "farewell"],
  ["farewell", "Which colour would you like?", "question"],
  ["thanks", "We cannot refund this order.", "refusal"],
  // Most refusals and many greetings follow no rule.
  ["refusal", "That is outside of our delivery area.", undefined],
  ["greeting", "City library, Sam speaking.", undefined],
  ["greeting", "Thanks for calling the library, hello!", undefined],
  ["question", "I need your order number.", undefined],
  ["greeting", "…", undefined],
];

for (const [label, text, value] of CASES) {
  Deno.test(`if ${label} is expected, "${text}" is ${value ?? "not labelled"}`, async () => {
    const found = await annotate(label, text);
    assertEquals(found.value, value);
    assertEquals(found.confidence, value === undefined ? null : 0.9);
    assertEquals(found.reason === undefined, value !== undefined);
  });
}

Deno.test("there are no rules for labels that are no acts, nor for any statement", () => {
  for (const label of ["order_status", "statement", "inform", 7]) {
    assertEquals(createAnnotator(label), undefined);
  }
});

Deno.test("the rules are English and say nothing of other languages", async () => {
  const { value, reason } = await annotate("greeting", "Schönen guten Tag");
  assertEquals([value, reason], [undefined, "the reply is not English"]);
});

Deno.test("a reference in which the rules do not find its label counts against them", async () => {
  const annotator = createAnnotator("greeting")!;
  const relabel = (text: string) =>
    annotator.relabel({ text, label: "greeting", interaction: interaction("i") });
  assertEquals(await relabel("Hello, what can I do?"), "greeting");
  assert(await relabel("Goodbye!") !== "greeting");
  assertEquals(await relabel("City library, Sam speaking."), undefined);
});

/** The vector's first number is joy, its second grief; a text with neither is neutral. */
const MODEL: SentimentModel = {
  encoder: "moods",
  weights: {
    positive: Float32Array.of(6, 0, 0, 0),
    neutral: Float32Array.of(0, 0, 0, 2),
    negative: Float32Array.of(0, 6, 0, 0),
  },
};

const VECTORS: Record<string, number[]> = {
  "that is great": [1, 0, 0],
  "that is awful": [0, 1, 0],
  "that is a parcel": [0, 0, 1],
  "that is so so": [1, 1, 0],
};

function annotatorOfLabels(labels: string[], more: Partial<Embedder> = {}) {
  const batch = [scenario("s", [interaction("i")])];
  const { embedder } = fakeEmbedder({
    method: "moods",
    embed: (text) => Promise.resolve(Float32Array.from(VECTORS[text]!)),
    ...more,
  });
  return createSentimentAnnotator({
    labels: new Map(labels.map((label) => [label.toLowerCase(), label])),
    semantics: createBatchSemantics(batch, { embedder }),
    model: MODEL,
  });
}

const readWithLabels = (labels: string[], text: string) =>
  annotatorOfLabels(labels).annotate({ text, interaction: interaction("i") });

Deno.test("a sentiment comes with its chance, which is the model's", async () => {
  const { value, confidence, method } = await readWithLabels(["positive"], "that is great");
  assertEquals([value, method], ["positive", "sentiment_model"]);
  assertAlmostEquals(confidence!, Math.exp(6) / (Math.exp(6) + Math.exp(2) + 1), 1e-6);
  assertEquals((await readWithLabels(["positive"], "that is awful")).value, "negative");
  assertEquals((await readWithLabels(["positive"], "that is a parcel")).value, "neutral");
});

Deno.test("the chances of a text add up to 1", () => {
  const chances = readSentiment(MODEL, Float32Array.from([3, 4, 0]));
  assertAlmostEquals(chances.reduce((sum, { chance }) => sum + chance, 0), 1, 1e-9);
});

Deno.test("a sentiment is spelled as the batch spells it", async () => {
  assertEquals((await readWithLabels(["POSITIVE"], "that is great")).value, "POSITIVE");
});

Deno.test("a sentiment that is not clear is not given", async () => {
  const { value, confidence, reason } = await readWithLabels(["positive"], "that is so so");
  assertEquals([value, confidence, reason], [undefined, null, "the sentiment is not clear"]);
});

Deno.test("a text in another language has no sentiment, and is not neutral", async () => {
  const { value, reason } = await readWithLabels(["neutral"], "Das ist völlig großartig");
  assertEquals([value, reason], [undefined, "the reply is not English"]);
});

Deno.test("without the encoder there is no sentiment by another method", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const annotator = annotatorOfLabels(["positive"], failing);
  const subject = { text: "that is great", interaction: interaction("i") };
  await assertRejects(() => annotator.annotate(subject), Error, "no weights");
  // A reference that could not be encoded must not count as labelled wrong.
  await assertRejects(() => annotator.relabel({ ...subject, label: "positive" }), Error);
});

Deno.test("the model is for the key sentiment and its three labels", () => {
  assert(areSentiments("sentiment", ["positive", "neutral"]));
  assert(areSentiments("Sentiment", ["negative"]));
  assert(!areSentiments("intent", ["positive"]));
  assert(!areSentiments("sentiment", ["joy", "anger"]));
  assert(!areSentiments("sentiment", ["positive", "very positive"]));
});

Deno.test("the built-in model was trained with the built-in encoder", async () => {
  using embedder = createLocalEmbedder();
  assertEquals(SENTIMENT_MODEL.encoder, embedder.method);
  const sentences: [string, string][] = [
    ["I'm delighted with this, thank you so much!", "positive"],
    ["The shop opens at nine on weekdays.", "neutral"],
    ["This is the worst service I have ever had.", "negative"],
  ];
  for (const [text, sentiment] of sentences) {
    const vector = await embedder.embed(text);
    assertEquals(SENTIMENT_MODEL.weights.positive.length, vector.length + 1);
    const [best] = readSentiment(SENTIMENT_MODEL, vector).toSorted((a, b) => b.chance - a.chance);
    assertEquals(best!.sentiment, sentiment);
    assert(best!.chance > 0.6);
  }
});
