import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "seeded-fast-check";
import { createBatchSemantics } from "../../../../eval/score/batch_semantics.ts";
import type { Embedder } from "../../../../eval/score/scoring_ports.ts";
import { createLocalEmbedder } from "../../../../eval/score/local_encoder.ts";
import {
  semanticSimilarity,
  SIMILARITY_LIMIT,
} from "../../../../eval/score/scores/semantic_similarity.ts";
import { calibrate, FLOOR, THRESHOLD } from "../../../../eval/score/scores/similarity_method.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";

interface Pair {
  kinds: string;
  reference: string;
  reply: string;
}

async function readEnglishPairs(): Promise<Pair[]> {
  const texts = await Promise.all(
    ["development", "held_out"].map((part) =>
      Deno.readTextFile(new URL(`../agreement/data/differences_${part}.tsv`, import.meta.url))
    ),
  );
  return texts.flatMap((text) => text.trim().split("\n")).map((line) => line.split("\t"))
    .filter(([language]) => language === "en")
    .map(([, kinds, reference, reply]) => ({
      kinds: kinds!,
      reference: reference!,
      reply: reply!,
    }));
}

/** The README and the pages of `docs`, without line breaks. */
async function readDocuments(): Promise<string> {
  const root = new URL("../../../../", import.meta.url);
  const pages = [new URL("README.md", root)];
  for await (const { name, isFile } of Deno.readDir(new URL("docs/", root))) {
    if (isFile && name.endsWith(".md")) pages.push(new URL(`docs/${name}`, root));
  }
  const texts = await Promise.all(pages.map((page) => Deno.readTextFile(page)));
  return texts.join("\n").replaceAll(/\s+/g, " ");
}

Deno.test("the stated scores of contradictions and of equivalents are those of our pairs", async () => {
  const pairs = await readEnglishPairs();
  const turns = pairs.map(({ reference }) => interaction("i", { reference_reply: reference }));
  using embedder = createLocalEmbedder();
  const semantics = createBatchSemantics([scenario("s", turns)], {
    embedder,
  });
  const measure = async (isMeant: (pair: Pair) => boolean) => {
    const meant = pairs.filter(isMeant);
    const values = await Promise.all(
      meant.map(async (pair) => (await semanticSimilarity(pair, semantics)).value!),
    );
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const passing = values.filter((value) => value >= 0.7).length / values.length;
    return { count: values.length, mean: mean.toFixed(2), passing: Math.round(100 * passing) };
  };
  const opposite = await measure(({ kinds }) => /negation|antonym/.test(kinds));
  const same = await measure(({ kinds }) => kinds === "-");
  for (const text of [SIMILARITY_LIMIT, await readDocuments()]) {
    assertStringIncludes(
      text,
      `the ${opposite.count} that contradict each other score ${opposite.mean} on average and ` +
        `${opposite.passing} % of them reach 0.7; the ${same.count} that say the same in other ` +
        `words score ${same.mean} and ${same.passing} % of them reach 0.7`,
    );
  }
});

const REFERENCES = ["Ihre Bestellung ist unterwegs", "您的订单已经发货。", "The parcel is here."];
const BATCH = [scenario(
  "s",
  REFERENCES.map((reference_reply) => interaction("i", { reference_reply })),
)];

function similarity(reply: string, reference: string, more: Partial<Embedder> = {}) {
  const { embedder } = fakeEmbedder(more);
  const semantics = createBatchSemantics(BATCH, { embedder });
  return semanticSimilarity({ reply, reference }, semantics);
}

Deno.test("the score is what the layers say that compare texts, calibrated, in every language", async () => {
  // One of two words is shared: nearness and both directions are 1/2.
  for (
    const [reply, reference] of [["parcel ships", "parcel shipping"], ["Paket da", "Paket fort"]]
  ) {
    const { value, method } = await similarity(reply!, reference!);
    assertAlmostEquals(value!, calibrate(0.5), 1e-6);
    assertEquals(method, "meaning/m3");
  }
});

Deno.test("a reference in a script that the model cannot read is compared by characters, without agreement", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  const near = await similarity(
    "Το κατάστημα είναι κλειστό.",
    "Το κατάστημα είναι ανοιχτό.",
    failing,
  );
  const far = await similarity("ร้านเปิดวันอาทิตย์", "Το κατάστημα είναι ανοιχτό.", failing);
  assertEquals([near.method, far.method], ["chrf", "chrf"]);
  assert(near.value! > 0.4 && far.value! < 0.1, `${near.value} ${far.value}`);
  assert(near.unknown!.includes("does not know the language"));
  assertEquals(near.agreement, undefined);
});

Deno.test("a reply of words that the model does not know has a similarity, but no agreement", async () => {
  using embedder = createLocalEmbedder();
  const semantics = createBatchSemantics(BATCH, { embedder });
  const pair = { reply: "Το δέμα είναι εδώ.", reference: "The parcel is here." };
  const { value, method, agreement, unknown } = await semanticSimilarity(pair, semantics);
  assertEquals([method, agreement], ["meaning/m3", undefined]);
  assert(value! < 0.7 && unknown!.includes("does not know the language"), `${value}`);
});

Deno.test("a cosine below 0 counts as 0", async () => {
  const opposite = {
    embed: (t: string) => Promise.resolve(Float32Array.of(t === "one a" ? 1 : -1)),
  };
  assertEquals((await similarity("one a", "two b", opposite)).value, 0);
});

const WORDLESS: [reference: string, reply: string, value: number][] = [
  ["42", "43", 0],
  ["42", "The answer is 42.", 1],
  ["42", "The answer is 43.", 0],
  ["-5", "5", 0],
  ["1,250", "1250.00", 1],
  ["$19.99", "19.99 USD", 1],
  ["$19.99", "$24.99", 0],
  ["2024-01-05", "2024-05-01", 0],
  ["-5", "It is \u22125 degrees.", 1],
  ["-5", "It is 5 degrees.", 0],
  ["3-5", "3\u20135 days", 1],
  ["3\u20135", "3-5", 1],
  ["3-5", "3\u20136 days", 0],
  ["42", "\u0664\u0662", 1],
  ["1\u202f000", "Cela fait 1000.", 1],
  ["12500", "12\xa0500", 1],
  ["1’234.50", "1234.50", 1],
  ["1\u202f000", "1\u202f001", 0],
  ["1 2", "1", 2 / 3],
  ["1 2", "One is 1.", 1 / 2],
  ["1234567", "1 234 567", 1],
  ["1 234 567", "There are 1,234,567 of them.", 1],
  ["12 500", "12\u202f500", 1],
  ["1234567", "1.234.567", 1],
  ["12500", "12’500", 1],
  ["100 200", "100, 200", 1],
  ["100 200", "It is 100.", 1 / 2],
  ["12.50", "12.5", 1],
  ["12.5", "It costs $12.50.", 1],
  ["12.50", "12,5", 1],
  ["12.50", "12.05", 0],
  ["0.5", ".5", 1],
  ["-.5", "-0.5", 1],
  ["0.125", "0,125", 1],
  ["1.234,50", "1234.5", 1],
  ["1.0.0", "1.0", 0],
  ["B", "C", 0],
  ["B", "(C)", 0],
  ["(B)", "The answer is B.", 1],
  ["B", "B) Paris", 1],
  ["B", "I would take B.", 1],
  ["B", "It is B or C.", 1 / 2],
  ["B", "The answer is B or C.", 1 / 2],
  ["B", "Paris", 0],
  ["B", "b)", 1],
  ["A", "A cat sat there.", 0],
  ["A", "A is right.", 1],
  ["7", "There are seven days in a week.", 1],
  ["7", "There are eight of them.", 0],
  ["365", "three hundred and sixty-five", 1],
  ["1", "One", 1],
  ["1", "No one knows.", 0],
  ["5", "the fifth attempt", 0],
  ["2", "two thirds", 0],
  ["12", "a dozen", 1],
  ["-7", "negative seven", 1],
  ["-7", "seven", 0],
  ["15:00", "at 3 pm", 1],
  ["15:00", "at 5 pm", 0],
  ["2024-03-05", "March 5, 2024", 1],
  ["2024-03-05", "May 3, 2024", 0],
  ["2024-03-05", "It was on 5 March 2024.", 1],
  ["2024-03-05", "It was on 5 March 2023.", 0],
  ["20:30", "It starts at 08:30.", 0],
  ["15:00", "03:00", 0],
  ["1-2", "2-1", 0],
  ["1-2", "The score was 2 to 1.", 0],
  ["05/03/2024", "03/05/2024", 0],
  ["10-20", "20-10", 0],
  ["1,000,000", "1 million", 1],
  ["0.5", "50%", 1],
  ["0.2", "2 percent", 0],
  ["3/4", "0.75", 1],
  ["1.5", "1½", 1],
  ["1-2-3-4", "1-2-3-5", 0],
  ["42", "6 * 7 = 42", 1],
  ["144", "12 * 12 = 124", 0],
  ["👍", "👎", 0],
  ["?", "5 ?", 0],
  ["👍", "Sure 👍", 1],
];

for (const [reference, reply, expected] of WORDLESS) {
  Deno.test(`a reference without letters needs no encoder: ${reply} for ${reference} is ${expected.toFixed(2)}`, async () => {
    const failing = { embed: () => Promise.reject(new Error("no weights")) };
    const { value, method } = await similarity(reply, reference, failing);
    assertAlmostEquals(value!, expected, 1e-12);
    assertEquals(method, "answer/wordless-c7");
  });
}

Deno.test("a yes or no that is given needs no encoder, and one that is not is compared by it", async () => {
  const { embedder, embedded } = fakeEmbedder();
  assertEquals((await similarity("No", "Yes", embedder)).value, 0);
  assertEquals(embedded.length, 0);
  await similarity("You can return it.", "Yes", embedder);
  assertEquals(embedded.length, 2);
});

Deno.test("the method is the reference's, whatever the reply is written in", async () => {
  for (const reply of ["Das Paket ist da.", "包裹在这里。", "42", "The parcel is here!"]) {
    assertEquals((await similarity(reply, "The parcel is here.")).method, "meaning/m3");
  }
});

Deno.test("references are encoded ahead", async () => {
  const { embedder, embedded } = fakeEmbedder();
  await createBatchSemantics(BATCH, { embedder }).encodeReferences(() => false);
  assertEquals(embedded, REFERENCES);
});

Deno.test("while the encoder is being loaded one reference waits for it, and none once a reply is there", async () => {
  const asked: string[] = [];
  const loaded = Promise.withResolvers<void>();
  const { embedder } = fakeEmbedder({
    async embed(text) {
      asked.push(text);
      await loaded.promise;
      return Float32Array.of(1);
    },
  });
  const semantics = createBatchSemantics(BATCH, { embedder });
  let isAnswered = false;
  const ahead = semantics.encodeReferences(() => isAnswered);
  await Promise.resolve();
  isAnswered = true;
  loaded.resolve();
  await ahead;
  assertEquals(asked, [REFERENCES[0]]);
});

Deno.test("without vectors there is no score but a reason, and the method stays the same", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  for (const reference of ["The parcel is here.", "您的订单已经发货。"]) {
    const working = await similarity("The parcel is there.", reference);
    assertEquals(await similarity("The parcel is there.", reference, failing), {
      value: null,
      method: working.method,
      missing: "no sentence vectors: no weights",
    });
  }
});

Deno.test("texts that differ in case, width and blanks only are 1 and need no encoder", async () => {
  const failing = { embed: () => Promise.reject(new Error("no weights")) };
  for (const [reply, reference] of [["ＹＥＳ  sir\n", "Yes sir"], ["是的", "是的"], ["?!", "?!"]]) {
    assertEquals((await similarity(reply!, reference!, failing)).value, 1);
  }
});

Deno.test("the calibration keeps the order and the ends, and puts its threshold at 0.7", () => {
  const values = Array.from({ length: 101 }, (_, i) => calibrate(i / 100));
  assertEquals(values, values.toSorted((a, b) => a - b));
  assertEquals([values[0], values.at(-1), calibrate(FLOOR)], [0, 1, 0]);
  assertAlmostEquals(calibrate(THRESHOLD), 0.7, 1e-12);
});

Deno.test("an embeddings endpoint is asked in every language, and its cosine is the score", async () => {
  const { compare: _, ...embedder } = fakeEmbedder({ method: "endpoint_embeddings:m" }).embedder;
  const semantics = createBatchSemantics(BATCH, { embedder });
  const pair = { reply: "schöne Grüße", reference: "schöne Tage" };
  const { value, method } = await semanticSimilarity(pair, semantics);
  assertEquals(method, "endpoint_embeddings:m");
  assertAlmostEquals(value!, 0.5, 1e-6);
});

Deno.test("the value lies between 0 and 1, is symmetric, and 1 for a text with itself", async () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...REFERENCES));
  await fc.assert(fc.asyncProperty(text, text, async (reply, reference) => {
    const [there, back, same] = await Promise.all([
      similarity(reply, reference),
      similarity(reference, reply),
      similarity(reply, reply),
    ]);
    assert(there.value! >= 0 && there.value! <= 1, `${there.value}`);
    if (there.method === back.method) assertAlmostEquals(there.value!, back.value!, 1e-9);
    assertAlmostEquals(same.value!, 1, 1e-6);
  }));
});

Deno.test("two texts without letters are as near from either side", async () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123 .,:-/?!$%()👍👎") });
  await fc.assert(fc.asyncProperty(text, text, async (reply, reference) => {
    const [there, back] = await Promise.all([
      similarity(reply, reference),
      similarity(reference, reply),
    ]);
    assert(there.value! >= 0 && there.value! <= 1, `${there.value}`);
    assertAlmostEquals(there.value!, back.value!, 1e-12);
  }));
});

Deno.test("a very long text equals another only if it is identical: nothing else of it is compared", async () => {
  const long = "Your parcel is on its way. ".repeat(5_000);
  const opposite = { embed: (t: string) => Promise.resolve(Float32Array.of(t === long ? 1 : -1)) };
  assertEquals((await similarity(long, long, opposite)).value, 1);
  assertEquals((await similarity(long, "short", opposite)).value, 0);
  assertEquals((await similarity(long, long.toUpperCase(), opposite)).value! < 1, true);
});

Deno.test("the answer to a wordless reference is found at the end of a very long reply", async () => {
  const reply = `${"Let me think. ".repeat(50_000)}The answer is 42.`;
  assertEquals((await similarity(reply, "42")).value, 1);
});
