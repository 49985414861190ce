import { assert, assertEquals } from "@std/assert";
import {
  type AnnotationPorts,
  createMetadataReader,
} from "../../../../eval/assess/metadata/annotation.ts";
import {
  type BatchSemantics,
  createBatchSemantics,
} from "../../../../eval/assess/batch_semantics.ts";
import type { Embedder } from "../../../../eval/assess/embeddings/embedder.ts";
import { indexLabels } from "../../../../eval/assess/metadata/label.ts";
import type { Interaction, Metadata } from "../../../../eval/schemas/scenario.ts";
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
  assert(priority!.reason!.includes("references of this batch are labelled right"));
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
  const embedder = fakeEmbedder().embedder;
  const semantics: BatchSemantics = {
    ...createBatchSemantics([scenario("s", TURNS)], { embedder }),
    tfIdf: () => Promise.reject(new TypeError("not a function")),
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

Deno.test("a turn of very many keys lets the event loop turn", async () => {
  const keys = Array.from({ length: 50_000 }, (_, at) => [`key ${at}`, "greeting"]);
  const subject = interaction("i", { reference_metadata: Object.fromEntries(keys) });
  const batch = [scenario("s", [subject])];
  await indexLabels(batch); // its own pauses are not the ones that are counted here
  const { read } = createReader([subject]);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { generatedMetadata } = await read({ text: "Hello there!", interaction: subject });
  clearInterval(timer);
  assert(turns > 0, "the event loop stood still");
  assertEquals(Object.keys(generatedMetadata).length, keys.length);
});
