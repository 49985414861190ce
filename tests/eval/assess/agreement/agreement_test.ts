import { assert, assertEquals } from "@std/assert";
import { compareReply } from "../../../../eval/assess/agreement/agreement.ts";
import { createBatchSemantics } from "../../../../eval/assess/batch_semantics.ts";
import { createLocalEmbedder } from "../../../../eval/assess/embeddings/local.ts";
import { meaning } from "../../../../eval/assess/scores/semantic_similarity.ts";
import type { ScoredBatch, ScoreInput } from "../../../../eval/assess/scores/scorer.ts";
import { isBarred } from "../../../../eval/schemas/barred.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { fakeEmbedder } from "../../../fakes/scoring_ports.ts";
import pairs from "./data/chat_pairs.json" with { type: "json" };
import names from "./data/name_pairs.json" with { type: "json" };

const EXAMPLES: [label: string, reference: string, reply: string][] = [
  ["contradicts", "Yes, you can get a refund.", "No, you cannot get a refund."],
  ["same", "Our hotel allows small dogs.", "You're welcome to bring a small dog to our hotel."],
  ["partly", "The gym has a sauna, and members can bring a guest.", "The gym has a sauna."],
  ["adds", "The shop is closed on Sundays.", "The shop is closed on Sundays and in August."],
  ["unrelated", "The capital of Japan is Tokyo.", "It will rain tomorrow."],
  ["contradicts", "The return window is 30 days.", "The return window is 60 days."],
  ["contradicts", "The dog bit the man.", "The man bit the dog."],
];

/** Scores replies as a run does. */
function createScorer(references: string[]) {
  const embedder = createLocalEmbedder();
  const turns = references.map((reference_reply) => interaction("i", { reference_reply }));
  const semantics = createBatchSemantics([scenario("s", turns)], {
    embedder,
  });
  const batch = { semantics, changed: {} } as unknown as ScoredBatch;
  const { score } = meaning.forBatch(batch)!;
  return {
    score: async (reference: string, reply: string) =>
      await score(
        { interaction: interaction("i", { reference_reply: reference }), reply } as ScoreInput,
      ),
    [Symbol.dispose]: () => embedder[Symbol.dispose](),
  };
}

async function sharePassing(
  scorer: ReturnType<typeof createScorer>,
  some: string[][],
): Promise<number> {
  const values = await Promise.all(
    some.map(async ([reference, reply]) =>
      (await scorer.score(reference!, reply!)).scores.semantic_similarity!
    ),
  );
  return values.filter((value) => value >= 0.7).length / values.length;
}

Deno.test("a reply has a label, and one that contradicts its reference stays below 0.7 and does not pass", async () => {
  using scorer = createScorer(EXAMPLES.map(([, reference]) => reference));
  for (const [label, reference, reply] of EXAMPLES) {
    const { scores, fields } = await scorer.score(reference, reply);
    assertEquals(fields?.agreement?.label, label, reply);
    const contradicts = label === "contradicts";
    assertEquals(fields?.differs_in !== undefined, contradicts, reply);
    const turn = { scores: { ...scores, overall: 1 }, ...fields };
    assertEquals(isBarred(turn), contradicts, reply);
    if (contradicts) assert(scores.semantic_similarity! < 0.7);
    assertEquals(isBarred({ ...turn, scores: { ...turn.scores, judge: 0.9 } }), false);
  }
});

Deno.test("of our chat pairs most contradictions fail and most equivalents pass", async () => {
  using scorer = createScorer(Object.values(pairs).flat().map(([reference]) => reference!));
  const passing = (...kinds: (keyof typeof pairs)[]) =>
    sharePassing(scorer, kinds.flatMap((kind) => pairs[kind]));
  assert(await passing("contradiction", "changed_value") <= 0.05);
  assert(await passing("exchanged") <= 0.1);
  assert(await passing("unrelated") === 0);
  assert(await passing("equivalent", "padded") >= 0.85);
});

Deno.test("of replies to a single word or a name few wrong ones pass, and most right ones", async () => {
  using scorer = createScorer(Object.values(names).flat().map(([reference]) => reference!));
  assert(await sharePassing(scorer, names.wrong) <= 0.05);
  assert(await sharePassing(scorer, names.right) >= 0.9);
});

Deno.test("texts that are clearly unrelated are not compared, and equal ones not even encoded", async () => {
  const asked: string[] = [];
  const { embedder } = fakeEmbedder({
    comparer: {
      windows(text) {
        asked.push(text);
        const vector = text.startsWith("Bananas") ? [0, 1] : [1, 0];
        return Promise.resolve([{
          vector: Float32Array.from(vector),
          states: new Float16Array(),
        }]);
      },
      compare: () => Promise.reject(new Error("not to be asked")),
    },
  });
  const turn = interaction("i", { reference_reply: "The shop is open." });
  const semantics = createBatchSemantics([scenario("s", [turn])], {
    embedder,
  });
  const { score } = meaning.forBatch({ semantics, changed: {} } as unknown as ScoredBatch)!;
  const equal = await score({ interaction: turn, reply: "the shop is open." } as ScoreInput);
  assertEquals([equal.scores.semantic_similarity, asked], [1, []]);
  const other = await score({ interaction: turn, reply: "Bananas are yellow." } as ScoreInput);
  assertEquals(other.fields?.agreement?.label, "unrelated");
});

Deno.test("a contradiction in one sentence of a long text is found", async () => {
  using embedder = createLocalEmbedder();
  const sentences = pairs.equivalent.slice(0, 12).map(([reference]) => reference!);
  const reference = sentences.join(" ");
  const same = await compareReply(
    { reply: `${reference} Thank you.`, reference },
    embedder.comparer!,
  );
  assertEquals(same.agreement.label, "same");
  const opposite = reference.replace("Penguins cannot fly.", "Penguins can fly very well.")
    .replace("does not cover", "covers");
  const wrong = await compareReply({ reply: opposite, reference }, embedder.comparer!);
  assertEquals(wrong.agreement.label, "contradicts");
});
