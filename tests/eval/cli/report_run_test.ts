import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { InteractionResult } from "../../../eval/schemas/interaction_result.ts";
import { cliContext } from "../../fakes/cli_context.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

const target = ["--endpoint", "http://model.example/v1?key=hidden", "--model", "m"];

/** One scenario of three turns, whatever was answered with this score, or what `change` makes of it. */
function scoredWorld(
  overall: number,
  change: (turn: number) => Partial<InteractionResult> = () => ({}),
) {
  const interactions = ["a", "b", "c"].map((id) => ({
    id,
    user_message: id,
    reference_reply: "right",
  }));
  const store = memoryStore();
  return cliContext({
    files: { "b.json": JSON.stringify([{ id: "s", interactions }]) },
    store: {
      ...store,
      recordTurn: (id, turn) =>
        store.recordTurn(id, {
          ...turn,
          result: { ...turn.result, scores: { overall }, ...change(turn.turn) },
        }),
    },
  });
}

Deno.test("three turns of 0.7 end with 0 at a threshold of 0.7, and of less with 100", async () => {
  assertEquals((await scoredWorld(0.7).run("run", "b.json", ...target)).code, 0);
  assertEquals((await scoredWorld(0.6999).run("run", "b.json", ...target)).code, 100);
});

Deno.test("the mean reads as in the table above it, and never as if it reached the threshold", async () => {
  const reasonOf = async (overall: number) =>
    (await scoredWorld(overall).run("run", "b.json", ...target)).out.trimEnd().split("\n").at(-1);
  assertEquals(await reasonOf(0.6), "not passed: overall 0.6 is below 0.7"); // 0.5999999999999999
  assertEquals(await reasonOf(0.6746), "not passed: overall 0.675 is below 0.7");
  assertEquals(await reasonOf(0.69999), "not passed: overall 0.699 is below 0.7");
});

Deno.test("a mean that missing scores cannot lift to the threshold is named by the most that it can be", async () => {
  const { run } = scoredWorld(
    0.6,
    (turn) =>
      turn === 0
        ? { scores: {}, missing_scores: { overall: "without judge" }, overall_bounds: [0.1, 0.3] }
        : {},
  );
  const { out } = await run("run", "b.json", ...target);
  assertEquals(out.trimEnd().split("\n").at(-1), "not passed: overall is 0.5 at most, below 0.7");
});

Deno.test("a terminal shows the endpoint without its query", async () => {
  const { out, err } = await scoredWorld(1).run("run", "b.json", ...target);
  assert(out.includes("at http://model.example/v1\n"), out);
  assert(!(out + err).includes("hidden"), out + err);
});

Deno.test("a mean below the threshold because calls failed does not pass, and says that they decide", async () => {
  const store = memoryStore();
  const error = { code: "provider_error", status: 500, detail: "" };
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify(
        ["a", "b"].map((id) => ({
          id,
          interactions: [{ id, user_message: id, reference_reply: "right" }],
        })),
      ),
    },
    store: {
      ...store,
      recordTurn: (id, turn) => {
        const own = turn.scenario === 0
          ? { scores: { overall: 1 } }
          : { scores: { overall: 0 }, error };
        return store.recordTurn(id, { ...turn, result: { ...turn.result, ...own } });
      },
    },
  });
  const { code, out } = await run("run", "b.json", ...target);
  assertEquals(code, 100);
  assert(out.startsWith("Evaluation b: inconclusive\n"), out);
  const words = "overall lies between 0.5 and 1, because 1 call failed, and the threshold is 0.7";
  assert(out.includes(words), out);
});

Deno.test("a required check that cannot be decided does not pass, however good the scores are", async () => {
  const store = memoryStore();
  const { run } = cliContext({
    files: {
      "b.json": JSON.stringify([{ id: "s", interactions: [{ id: "i", user_message: "Hi" }] }]),
    },
    store: {
      ...store,
      recordTurn: (id, turn) => {
        const check = { name: "polite", type: "judge", weight: 1, required: true, value: null };
        const own = {
          scores: { overall: null },
          missing_scores: { checks: "polite: judge_unavailable", overall: "without checks" },
          overall_bounds: [0.8, 1] as [number, number],
          check_results: [check],
        };
        return store.recordTurn(id, { ...turn, result: { ...turn.result, ...own } });
      },
    },
  });
  const { code, out } = await run("run", "b.json", ...target, "--threshold", "0.3");
  assertEquals(code, 100);
  assert(out.startsWith("Evaluation b: inconclusive\n"), out);
  assert(out.includes("required checks or tool calls are missing in 1 turn"), out);
});

Deno.test("a run that expects nothing passes, and the last line says that nothing was scored", async () => {
  const interactions = [{ id: "i", user_message: "Hi" }];
  const { run } = cliContext({ files: { "b.json": JSON.stringify([{ id: "s", interactions }]) } });
  const { code, out } = await run("run", "b.json", ...target);
  assertEquals(code, 0);
  assert(out.startsWith("Evaluation b: not scored\n"), out);
  assertStringIncludes(out, "\npassed, but no turn was scored: no reference, label, check");
});

for (
  const [what, own] of [
    ["a required check", { checks: [{ type: "contains", value: "yes", required: true }] }],
    ["expected tool calls", { reference_tools: [{ name: "search" }] }],
  ] as const
) {
  Deno.test(`a failed call of a turn with ${what} does not pass, however good the others are`, async () => {
    const store = memoryStore();
    const turn = { user_message: "Hi", ...own };
    const scenario = (id: string) => ({ id, interactions: [{ id: "i", ...turn }] });
    const error = {
      code: "provider_error",
      message: "",
      detail: "the endpoint answered 500",
      status: null,
    };
    const { run } = cliContext({
      files: { "b.json": JSON.stringify(["a", "b", "c", "d"].map(scenario)) },
      store: {
        ...store,
        recordTurn: (id, turn) => {
          const scored = turn.scenario === 0
            ? { scores: { tools: 0, overall: 0 }, error }
            : { scores: { tools: 1, overall: 1 } };
          const scores = { ...scored.scores, ...(!("reference_tools" in own) && { tools: null }) };
          const { error: _, check_results: __, missing_scores: ___, ...result } = turn.result;
          return store.recordTurn(id, { ...turn, result: { ...result, ...scored, scores } });
        },
      },
    });
    const { code, out } = await run("run", "b.json", ...target, "--threshold", "0.5");
    assertEquals(code, 100);
    assert(out.startsWith("Evaluation b: inconclusive\n"), out);
    assert(out.includes("required checks or tool calls are missing in 1 turn"), out);
  });
}
