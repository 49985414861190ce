import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import type { Embedder } from "../../../../eval/assess/embeddings/embedder.ts";
import { createFewShot } from "../../../../eval/assess/metadata/few_shot.ts";
import { collectExamples } from "../../../../eval/assess/metadata/label_examples.ts";
import { createVectorIndex } from "../../../../eval/assess/metadata/label_index.ts";
import type { Interaction } from "../../../../eval/schemas/scenario.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

const turn = (label: unknown, reference_reply: string) =>
  interaction(reference_reply, { reference_reply, reference_metadata: { topic: label } });

function setUp(turns: Interaction[], more: Partial<Embedder> = {}) {
  const scenarios = [scenario("s", turns)];
  const { embedder } = fakeEmbedder(more);
  return {
    scenarios,
    semantics: createBatchSemantics(scenarios, { embedder }),
  };
}

async function read(turns: Interaction[], text: string, more: Partial<Embedder> = {}) {
  const fewShot = await createFewShot("topic", setUp(turns, more));
  return await fewShot!.annotator.annotate({ text, interaction: interaction("other") });
}

async function scoreOf(turns: Interaction[], text: string): Promise<number> {
  const { scenarios, semantics } = setUp(turns);
  const groups = collectExamples("topic", scenarios);
  const index = await createVectorIndex({ groups, semantics });
  return (await index.score({ text, interaction: interaction("other") }))[0]!.score;
}

const TURNS = [
  turn("money", "the refund reaches the card"),
  turn("money", "a refund takes days"),
  turn("parcel", "the parcel arrives soon"),
];

Deno.test("a label's score is the documented sum", async () => {
  const score = await scoreOf([turn("cash desk", "a b"), turn("cash desk", "c d")], "a b");
  // Vectors of words: nearest 1, with the sum of both examples 1/√2; nothing of the label's words.
  const rest = score - (0.75 * Math.SQRT1_2 + 0.25);
  assert(rest > 0 && rest <= 0.5, `TF-IDF adds ${rest}, at most half`);
});

Deno.test("the label's own words count one half", async () => {
  assertAlmostEquals(await scoreOf([turn("cash_desk", "")], "cash desk"), 0.5, 1e-6);
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

Deno.test("what is compared is decided by the references, not by the reply", async () => {
  const german = [turn("geld", "Die Rückzahlung läuft"), turn("paket", "Das Päckchen ist da")];
  const other = await read(german, "Ihre Rückzahlung läuft");
  assertEquals([other.value, other.method], ["geld", "few_shot_tfidf"]);
  assertEquals((await read(german, "the refund takes days")).method, "few_shot_tfidf");
  assertEquals((await read(TURNS, "Ihre Rückzahlung läuft")).method, "few_shot");
});

Deno.test("without the encoder there is no label by another method", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  await assertRejects(() => read(TURNS, "the refund takes days", failing), Error, "no weights");
});

Deno.test("a batch with examples of fewer than two labels is not for it", async () => {
  assertEquals(await createFewShot("topic", setUp([turn("a", "text"), turn("b", " ")])), undefined);
});

Deno.test("a second example of a label does not take the first one's place", async () => {
  const first = turn("money", "the refund reaches the card");
  const turns = [first, turn("money", "cash"), turn("parcel", "the parcel reaches the door")];
  const fewShot = await createFewShot("topic", setUp(turns));
  const reply = { text: "the refund reaches the credit card", interaction: first };
  assertEquals((await fewShot!.annotator.annotate(reply)).value, "money");
});

Deno.test("a reference is relabelled without itself, and every other label is short of one too", async () => {
  const turns = [
    turn("x", "apple pear"),
    turn("x", "apple plum"),
    turn("y", "train bus"),
    turn("y", "train car"),
  ];
  const { annotator, checkable } = (await createFewShot("topic", setUp(turns)))!;
  assertEquals(checkable.length, 4);
  for (const example of checkable) assertEquals(await annotator.relabel(example), example.label);
});

Deno.test("only references whose label has another text can be checked", async () => {
  const turns = [turn("x", "apple"), turn("y", "train"), turn("y", "Train!"), turn("z", "a")];
  assertEquals((await createFewShot("topic", setUp(turns)))!.checkable, []);
});

Deno.test("the check of a large batch takes a sample, the same one each time", async () => {
  const turns = Array.from({ length: 3000 }, (_, at) => turn(`label ${at % 100}`, `text ${at}`));
  const [one, two] = await Promise.all([0, 1].map(() => createFewShot("topic", setUp(turns))));
  assert(one!.checkable.length >= 30 && one!.checkable.length <= 200);
  assertEquals(one!.checkable.map(({ text }) => text), two!.checkable.map(({ text }) => text));
});
