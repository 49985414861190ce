import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import type { Embedder } from "../../../../eval/assess/embeddings/embedder.ts";
import { planKey } from "../../../../eval/assess/metadata/key_plan.ts";
import type { SentimentModel } from "../../../../eval/assess/metadata/sentiment.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

type Labelled = [label: unknown, reference: string];

/** Knows two words. */
const MODEL: SentimentModel = {
  encoder: "two words",
  weights: {
    positive: Float32Array.of(6, 0, 0),
    neutral: Float32Array.of(0, 0, 2),
    negative: Float32Array.of(0, 6, 0),
  },
};
const twoWords: Partial<Embedder> = {
  method: "two words",
  embed: (text) =>
    Promise.resolve(Float32Array.from([/great/.test(text) ? 1 : 0, /awful/.test(text) ? 1 : 0])),
};

function plan(key: string, turns: Labelled[], more: Partial<Embedder> = {}) {
  const scenarios = [scenario(
    "s",
    turns.map(([label, reference_reply], at) =>
      interaction(`${at}`, { reference_reply, reference_metadata: { [key]: label } })
    ),
  )];
  const { embedder } = fakeEmbedder(more);
  const semantics = createBatchSemantics(scenarios, { embedder });
  return planKey(key, { scenarios, semantics, sentiment: MODEL });
}

const FRUIT = ["apple and plum", "apple and pear", "apple or fig", "apple or date"];
const TRAFFIC = ["train and bus", "train and car", "train or bike", "train or boat"];
const pair = (label: unknown, texts: string[]) => texts.map((text): Labelled => [label, text]);

Deno.test("labels that the texts tell apart are learnt from the batch and pass its check", async () => {
  const { method, annotator, selfCheck } = await plan("topic", [
    ...pair("fruit", FRUIT),
    ...pair("traffic", TRAFFIC),
  ]);
  assert(annotator);
  assertEquals(method, "few_shot");
  assertEquals(selfCheck, { right: 8, of: 8, accuracy: 1, floor: 0.75 });
});

Deno.test("labels that the texts do not tell apart are not given at all, with the reason", async () => {
  const mixed = [...FRUIT, ...TRAFFIC].map((text, at): Labelled => [at % 2 ? "low" : "high", text]);
  const { annotator, selfCheck, reason } = await plan("priority", mixed);
  assertEquals(annotator, undefined);
  assert(selfCheck!.accuracy! < 0.5);
  assertStringIncludes(reason!, `only ${selfCheck!.right} of 8 references`);
  assertStringIncludes(reason!, "0.75");
});

Deno.test("one example for each label cannot be checked, and speaks for itself", async () => {
  const { annotator, selfCheck } = await plan("topic", [["fruit", "apple"], ["traffic", "train"]]);
  assert(annotator);
  assertEquals(selfCheck, { right: 0, of: 0, accuracy: null, floor: 0.75 });
});

Deno.test("a handful of references does not speak against a batch's own examples", async () => {
  const crossed: Labelled[] = [
    ["billing", "Your card was charged on Monday"],
    ["billing", "The parcel arrives by noon"],
    ["delivery", "Your card was sent on Monday"],
    ["delivery", "The parcel is paid by noon"],
  ];
  const { annotator, selfCheck } = await plan("topic", crossed);
  assert(annotator);
  assertEquals([selfCheck?.right, selfCheck?.of], [0, 4]);
});

Deno.test("labels without a reference reply cannot be learnt", async () => {
  const { annotator, reason } = await plan("topic", [["fruit", "apple"], ["traffic", ""]]);
  assertEquals(annotator, undefined);
  assertStringIncludes(reason!, "fewer than two labels");
});

Deno.test("a single label is for the rules, if they find it in the references", async () => {
  const greeted = await plan("intent", [["greeting", "Hello there"], ["greeting", "Hi Maria"]]);
  assertEquals([greeted.method, greeted.selfCheck?.right], ["dialogue_act_rules", 2]);
  const odd = ["It rains today", "The sky is grey", "Wind comes up", "Snow falls"];
  const overlooked = await plan("intent", pair("greeting", odd));
  assertEquals([overlooked.annotator, overlooked.selfCheck?.right], [undefined, 0]);
  const other = await plan("intent", [["order_status", "Your parcel is here"]]);
  assertEquals([other.annotator, other.selfCheck], [undefined, null]);
  const german = await plan("intent", [["greeting", "Schönen guten Tag"]]);
  assertEquals(german.annotator, undefined);
});

Deno.test("sentiment is for the model, if it gets the references right", async () => {
  const turns: Labelled[] = [["positive", "that is great"], ["negative", "that is awful"]];
  const { method, selfCheck } = await plan("sentiment", turns, twoWords);
  assertEquals([method, selfCheck?.right, selfCheck?.of], ["sentiment_model", 2, 2]);
});

const MANY = Array.from({ length: 10 }, (_, at) => `item ${at}`);
const MANY_SENTIMENTS = [
  ...pair("positive", MANY.map((item) => `apple ${item}`)),
  ...pair("negative", MANY.map((item) => `train ${item}`)),
];

Deno.test("sentiment is learnt from the batch if many references show that it can be", async () => {
  const embedder = { ...fakeEmbedder().embedder, method: "two words" };
  const many = await plan("sentiment", MANY_SENTIMENTS, embedder);
  assertEquals([many.method, many.selfCheck?.right, many.selfCheck?.of], ["few_shot", 20, 20]);
  const few = await plan("sentiment", MANY_SENTIMENTS.slice(1), embedder);
  assertEquals([few.method, few.annotator], ["sentiment_model", undefined]);
});

Deno.test("the sentiment model does not read another encoder's vectors, nor another language", async () => {
  const german = pair("positive", ["Das ist schön", "Völlig großartig"]);
  assertEquals((await plan("sentiment", german, twoWords)).annotator, undefined);
  assertEquals((await plan("sentiment", [["positive", "that is great"]])).annotator, undefined);
  assertEquals((await plan("sentiment", MANY_SENTIMENTS)).method, "few_shot");
});

Deno.test("a check that cannot have the encoder decides nothing", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const turns = [...pair("fruit", FRUIT), ...pair("traffic", TRAFFIC)];
  await assertRejects(() => plan("topic", turns, failing), Error, "no weights");
});
