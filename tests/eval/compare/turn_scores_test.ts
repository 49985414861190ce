import { assertEquals } from "@std/assert";
import { type ComparedTurn, readScores } from "../../../eval/compare/turn_scores.ts";

/** The scores of a run of one turn. */
async function readTurn(result: Partial<ComparedTurn["result"]>) {
  const turn = { scenario: 0, attempt: 0, turn: 0, result: { scores: {}, ...result } };
  const { turns, names } = await readScores(ReadableStream.from([turn as ComparedTurn]));
  return { turn: turns.get(0)!.get(0)![0]!, names: [...names] };
}

const method = "rules" as const;

Deno.test("a label is compared if its key was read, whatever the key is called", async () => {
  const { turn } = await readTurn({
    scores: { intent_match: 1, metadata_match: 1 },
    reference_metadata: { intent: "refund", constructor: "x" },
    annotation: { method, keys: { intent: { method } } } as never,
  });
  assertEquals(turn.matches, ["intent_match"]);
  assertEquals(Object.keys(turn.methods), ["intent_match"]);
});

Deno.test("a planned score without a value is missing, also in runs that do not say so", async () => {
  const { turn, names } = await readTurn({
    scores: { intent_match: null, judge: null, exact_match: null },
    reference_metadata: { intent: "refund" },
    annotation: { method, keys: { intent: { method } } } as never,
    judge: { model: "j" } as never,
  });
  assertEquals([...turn.missing], ["judge", "intent_match", "metadata_match"]);
  assertEquals(names, ["intent_match", "judge"]); // `exact_match` was never planned
});
