import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  type BatchSemantics,
  createBatchSemantics,
} from "../../../../eval/score/batch_semantics.ts";
import type { Embedder } from "../../../../eval/score/scoring_ports.ts";
import {
  type AnnotationPorts,
  createMetadataReader,
} from "../../../../eval/score/metadata/annotation.ts";
import type { LabelExample } from "../../../../eval/score/metadata/annotator.ts";
import { checkAnnotator, failsCheck, planKey } from "../../../../eval/score/metadata/key_plan.ts";
import { collectLabels, spreadSample } from "../../../../eval/score/metadata/label.ts";
import type { SentimentModel } from "../../../../eval/score/metadata/sentiment.ts";
import type { Interaction, Metadata } from "../../../../eval/test/scenario.ts";
import { interaction, providerError, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder, fakeJudge } from "../../../fakes/scoring_ports.ts";

const turn = (reference_reply: string, reference_metadata: Metadata) =>
  interaction(reference_reply, { reference_reply, reference_metadata });

function createReader(
  turns: Interaction[],
  { embed, ...ports }: Partial<AnnotationPorts> & Partial<Embedder> = {},
) {
  const batch = [scenario("s", turns)];
  const { embedder } = fakeEmbedder(embed && { embed });
  const semantics = createBatchSemantics(batch, { embedder });
  const signal = new AbortController().signal;
  return createMetadataReader(batch, { semantics, judge: undefined, signal, ...ports });
}

/** Two labels with two references each, which resemble those of the other label more. */
const CROSSED = [
  turn("Your card was charged on Monday", { intent: "billing" }),
  turn("The parcel arrives by noon", { intent: "billing" }),
  turn("Your card was sent on Monday", { intent: "delivery" }),
  turn("The parcel is paid by noon", { intent: "delivery" }),
];

Deno.test("a model that repeats the references has their labels, however few there are", async () => {
  const { read } = createReader(CROSSED);
  for (const subject of CROSSED) {
    const text = `${subject.reference_reply!.toUpperCase()}.`;
    const { generatedMetadata, annotation } = await read({ text, interaction: subject });
    assertEquals(generatedMetadata, subject.reference_metadata);
    assertEquals(annotation?.keys.intent?.method, "same_text");
    assertEquals(annotation?.keys.intent?.confidence, 1);
  }
});

Deno.test("a second example does not lower the match of replies in other words", async () => {
  const replies = ["Your card was charged on a Monday", "The parcel arrives there by noon"];
  for (const count of [1, 2]) {
    const turns = [CROSSED[0]!, CROSSED[3]!, CROSSED[1]!, CROSSED[2]!].slice(0, count * 2);
    const { generatedMetadata } = await createReader(turns).read({
      text: replies[0]!,
      interaction: turns[0]!,
    });
    assertEquals(generatedMetadata, { intent: "billing" }, `${count} examples a label`);
  }
});

const FRUIT = ["apple and plum", "apple and pear", "apple or fig", "apple or date"];
const TRAFFIC = ["train and bus", "train and car", "train or bike", "train or boat"];
/** `topic` can be learnt from the texts, `priority` cannot. */
const TURNS = [...FRUIT, ...TRAFFIC].map((text, at) =>
  turn(text, { topic: at < 4 ? "fruit" : "traffic", priority: at % 2 ? "low" : "high" })
);

Deno.test("a key that cannot be labelled in this batch has no value, takes no part and says why", async () => {
  const { generatedMetadata, annotation } = await createReader(TURNS).read({
    text: "apple and banana",
    interaction: TURNS[0]!,
  });
  assertEquals(generatedMetadata, { topic: "fruit" });
  const { topic, priority } = annotation!.keys;
  assertEquals([topic!.counts, topic!.self_check?.right], [undefined, 8]);
  assertEquals([priority!.counts, priority!.confidence], [false, null]);
  assert(priority!.reason!.includes("references of this batch are labelled correctly"));
});

Deno.test("a key does not count at a turn whose own reference its annotator misreads", async () => {
  const greetings = ["Hello there!", "Hi, how can I help?", "Good morning!"];
  const turns = [...greetings, "The parcel arrives by noon."].map((text) =>
    turn(text, { act: "greeting" })
  );
  const { plan, read } = createReader(turns);
  const notes = await Promise.all(turns.map(async (turn) => (await plan(turn))!.keys.act!));
  assertEquals(notes.map(({ counts }) => counts), [undefined, undefined, undefined, false]);
  const text = "It comes at twelve.";
  const { annotation, generatedMetadata } = await read({ text, interaction: turns[3]! });
  assertEquals([annotation?.keys.act?.counts, generatedMetadata], [false, {}]);
  assertStringIncludes(annotation?.keys.act?.reason ?? "", "the reference itself is not read");
});

Deno.test("a reply that says what its reference says and nothing else has its labels, however it is read", async () => {
  const asked = { text: "train and tram", interaction: TURNS[0]! }; // of the other label's words
  const read = (label: "same" | "partly" | "adds") => {
    const agreement = { entails: 1, contradicts: 0, covers: 1, label };
    const compare = () => Promise.resolve({ agreement, similarity: 1 });
    const semantics = createBatchSemantics([scenario("s", TURNS)], fakeEmbedder({ compare }));
    return createReader(TURNS, { semantics }).read(asked);
  };
  const same = await read("same");
  assertEquals(same.generatedMetadata.topic, "fruit");
  assertEquals(same.annotation?.keys.topic?.method, "same_meaning");
  assertEquals((await read("partly")).generatedMetadata.topic, "fruit");
  assertEquals((await read("adds")).generatedMetadata.topic, "traffic");
});

Deno.test("which keys count does not depend on the reply", async () => {
  for (const text of ["apple and plum", "bananas grow slowly", "Völlig großartig", "?"]) {
    const { annotation } = await createReader(TURNS).read({ text, interaction: TURNS[0]! });
    const { topic, priority } = annotation!.keys;
    assertEquals([topic!.counts, priority!.counts], [undefined, false], text);
  }
});

Deno.test("with a judge the labels come from the judge, but for a reference's own words", async () => {
  const { judge, asked } = fakeJudge(() =>
    '{"labels": {"topic": "traffic", "priority": "low"}, "confidence": 0.7}'
  );
  const { read } = createReader(TURNS, { judge });
  const { generatedMetadata, annotation } = await read({ text: "apples", interaction: TURNS[0]! });
  assertEquals(generatedMetadata, { topic: "traffic", priority: "low" });
  assertEquals([annotation?.method, annotation?.confidence], ["judge", 0.7]);
  const same = await read({ text: "Apple and plum!", interaction: TURNS[0]! });
  assertEquals(same.generatedMetadata, { topic: "fruit", priority: "high" });
  assertEquals(asked.length, 1);
});

const JUDGE_FAULTS: [reason: string, answer: () => string][] = [
  ["judge_unreadable", () => "I would say fruit."],
  ["judge_unavailable", () => {
    throw providerError(500);
  }],
];

for (const [reason, answer] of JUDGE_FAULTS) {
  Deno.test(`${reason}: the reply has no labels, and none by another method`, async () => {
    const { judge } = fakeJudge(answer);
    const { read } = createReader(TURNS, { judge });
    const { generatedMetadata, annotation, isLasting } = await read({
      text: "apple and banana",
      interaction: TURNS[0]!,
    });
    assertEquals([generatedMetadata, isLasting], [{}, false]);
    const note = { method: "judge", confidence: null, reason };
    assertEquals(annotation?.keys, { topic: note, priority: note });
  });
}

Deno.test("a judge that finds no label fitting has given an answer, and the reason is stored with it", async () => {
  const { judge } = fakeJudge(() =>
    '{"labels": {"topic": "unknown", "priority": "low"}, "confidence": 0.7}'
  );
  const { annotation, isLasting } = await createReader(TURNS, { judge }).read({
    text: "apples",
    interaction: TURNS[0]!,
  });
  assertEquals(annotation?.keys.topic, {
    method: "judge",
    confidence: null,
    reason: "the judge says that none of the labels fits",
    none_fits: true,
  });
  assertEquals(isLasting, true);
});

Deno.test("labels that were planned otherwise are missing", async () => {
  const { read } = createReader(TURNS, { unavailable: "the run was planned with a judge" });
  const { annotation } = await read({ text: "apples", interaction: TURNS[0]! });
  assertEquals(annotation?.keys.topic?.reason, "the run was planned with a judge");
});

Deno.test("while the encoder fails there are no labels", async () => {
  const { embedder } = fakeEmbedder();
  let isDown = true;
  const { read } = createReader(TURNS, {
    embed: (text) => isDown ? Promise.reject(new Error("no weights")) : embedder.embed(text),
  });
  const reply = { text: "apple and banana", interaction: TURNS[0]! };
  const down = await read(reply);
  assertEquals(down.generatedMetadata, {});
  assertEquals(down.annotation?.keys.topic?.reason, "no sentence vectors: no weights");
  assertEquals(down.annotation?.keys.topic?.counts, undefined);
  assertEquals(down.isLasting, false);
  isDown = false;
  const back = await read(reply);
  assertEquals([back.generatedMetadata, back.isLasting], [{ topic: "fruit" }, true]);
});

Deno.test("the words of a reference do not decide alone whether an unchecked key counts", async () => {
  const { read } = createReader(TURNS, { embed: () => Promise.reject(new Error("no weights")) });
  const { generatedMetadata, annotation } = await read({
    text: TURNS[0]!.reference_reply!,
    interaction: TURNS[0]!,
  });
  assertEquals(generatedMetadata, {});
  assertEquals(annotation?.keys.priority?.reason, "no sentence vectors: no weights");
});

Deno.test("a fault of the labelling is not blamed on the encoder, and is reported once", async () => {
  const faults: unknown[] = [];
  const semantics: BatchSemantics = {
    ...createBatchSemantics([scenario("s", TURNS)], fakeEmbedder()),
    embedder: { method: "broken", embed: () => Promise.reject(new TypeError("not a function")) },
  };
  const { read } = createReader(TURNS, { semantics, onFailure: (error) => faults.push(error) });
  for (const text of ["apple and banana", "train and tram"]) {
    const { annotation } = await read({ text, interaction: TURNS[0]! });
    assertEquals(annotation?.keys.topic?.reason, "labelling failed; see the service's log");
  }
  assertEquals(faults.map((fault) => (fault as Error).message), ["not a function"]);
});

Deno.test("the keys that count are known without a reply", async () => {
  const annotation = await createReader(TURNS).plan(TURNS[0]!);
  const { topic, priority } = annotation!.keys;
  assertEquals([topic!.counts, priority!.counts], [undefined, false]);
  const { judge } = fakeJudge(() => "");
  assertEquals(await createReader(TURNS, { judge }).plan(TURNS[0]!), undefined);
});

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

const LABELLED_TURNS = [
  turn("Your money is back.", { intent: "Refund", priority: 2 }),
  turn("The parcel is here.", { intent: "Delivery" }),
  turn("All done.", { intent: "Refund" }),
  turn("All done!", { intent: "Delivery" }),
  turn("", { intent: "Nothing" }),
  turn("?!", { intent: "Doubt" }),
];

async function find(key: string, text: string, asked = LABELLED_TURNS[0]!) {
  const labels = await collectLabels([scenario("s", LABELLED_TURNS)]);
  return labels.find(key, { text, interaction: asked });
}

Deno.test("a reply that says what a reference says has its labels, whichever turn it answers", async () => {
  assertEquals(await find("intent", "YOUR MONEY is  back"), {
    value: "Refund",
    method: "same_text",
    confidence: 1,
  });
  assertEquals((await find("priority", "your money is back!", LABELLED_TURNS[1]!))?.value, 2);
  assertEquals((await find("intent", "the parcel is here", LABELLED_TURNS[0]!))?.value, "Delivery");
  assertEquals((await find("intent", "?!"))?.value, "Doubt");
});

Deno.test("another text, and a key that the reference has not, are for others to label", async () => {
  assertEquals(await find("intent", "Your money is back, or is it?"), undefined);
  assertEquals(await find("priority", "The parcel is here."), undefined);
  assertEquals(await find("intent", ""), undefined);
});

Deno.test("if references of one text differ, the turn's own label decides, else there is none", async () => {
  assertEquals((await find("intent", "All done", LABELLED_TURNS[3]!))?.value, "Delivery");
  assertEquals((await find("intent", "All done", LABELLED_TURNS[2]!))?.value, "Refund");
  assertEquals(await find("intent", "All done", LABELLED_TURNS[5]!), {
    value: undefined,
    method: "same_text",
    confidence: null,
    reason: "2 references have this text and different labels",
  });
});

Deno.test("a very long reply is taken for no reference", async () => {
  assertEquals(await find("intent", `Your money is back.${" ".repeat(200_000)}`), undefined);
});

const examples = (...labels: string[]): LabelExample[] =>
  labels.map((label, at) => ({ label, text: `text ${at}`, interaction: interaction(`${at}`) }));

const saying = (...found: unknown[]) => ({ relabel: () => Promise.resolve(found.shift()) });

Deno.test("the check counts the references that are labelled right", async () => {
  const check = await checkAnnotator(saying("A", "b", undefined, "a "), {
    examples: examples("a", "a", "b", "a"),
    labels: 2,
  });
  assertEquals([check.right, check.of, check.accuracy], [2, 4, 0.5]);
});

Deno.test("the floor lies halfway between the most frequent label and being always right", async () => {
  const floor = async (labels: number, ...of: string[]) =>
    (await checkAnnotator(saying(), { examples: examples(...of), labels })).floor;
  assertEquals(await floor(2, "a", "b"), 0.75);
  assertEquals(await floor(4, "a", "b", "c", "d"), 0.625);
  assertAlmostEquals(await floor(2, ..."aaaaaaaaab"), 0.95, 1e-12);
  // With a single label in the references, always being right means nothing.
  assertEquals(await floor(4, "a", "a"), 0.625);
});

Deno.test("a key fails only if chance cannot explain that so few are right", () => {
  const fails = (right: number, of: number, floor: number) =>
    failsCheck({ right, of, accuracy: right / of, floor });
  assert(!fails(2, 4, 0.75));
  assert(fails(0, 4, 0.75));
  assert(!fails(6, 10, 0.75));
  assert(fails(20, 40, 0.75));
  assert(!fails(28, 40, 0.75));
  assert(fails(60, 100, 0.75));
  assert(!failsCheck({ right: 0, of: 0, accuracy: null, floor: 0.75 }));
});

Deno.test("without references there is nothing to check with", async () => {
  const check = await checkAnnotator(saying(), { examples: [], labels: 2 });
  assertEquals(check, { right: 0, of: 0, accuracy: null, floor: 0.75 });
});

Deno.test("a sample is spread over all items, and the same each time", () => {
  assertEquals(spreadSample([1, 2, 3], 5), [1, 2, 3]);
  assertEquals(spreadSample([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 5), [0, 2, 4, 6, 8]);
});
