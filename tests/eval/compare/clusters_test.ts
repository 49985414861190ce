import { assertEquals } from "@std/assert";
import { clusterScore } from "../../../eval/compare/statistics/clusters.ts";
import { createLeftOutCounter } from "../../../eval/compare/left_out.ts";
import type { AttemptTurn } from "../../../eval/compare/turn_scores.ts";

function answered(attempt: number, score: number | null): AttemptTurn {
  return {
    attempt,
    failed: false,
    unanswered: false,
    scores: { token_f1: score },
    missing: new Set(score === null ? ["token_f1"] : []),
    methods: {},
    matches: null,
  };
}

function scenario(turns: { baseline: (number | null)[]; candidate: (number | null)[] }[]) {
  const side = (scores: (number | null)[]) => scores.map((score, i) => answered(i, score));
  return {
    id: "s",
    question: "s",
    key: "s",
    turns: turns.map(({ baseline, candidate }) => ({
      baseline: side(baseline),
      candidate: side(candidate),
    })),
  };
}

async function cluster(...turns: Parameters<typeof scenario>[0]) {
  let pauses = 0;
  const score = await clusterScore([scenario(turns)], "token_f1", {
    leftOut: createLeftOutCounter(),
    pause: () => Promise.resolve(void pauses++),
  });
  return { ...score, pauses };
}

Deno.test("a long scenario is compared in pieces: the event loop may run after each turn", async () => {
  const turn = { baseline: [0.2, 0.4], candidate: [0.5, 0.7] };
  const { pauses: short } = await cluster(turn);
  const { pauses: long } = await cluster(...Array(50).fill(turn));
  assertEquals(long - short, 49);
});

Deno.test("where nothing is missing the bounds are the values", async () => {
  const { clusters, bounds, errorBounds } = await cluster(
    { baseline: [0.2, 0.4], candidate: [0.5, 0.75] },
    { baseline: [0.4, 0.8], candidate: [1, 0.25] },
  );
  assertEquals(clusters[0]!.candidate, [0.75, 0.5]);
  assertEquals([bounds.lowest, bounds.highest, errorBounds], [clusters, clusters, null]);
});

Deno.test("a missing score is bounded by 0 and 1, and the mean of the other attempts stands in", async () => {
  const { clusters, bounds, missing } = await cluster(
    { baseline: [0.25, 0.75], candidate: [0.5, null] },
    { baseline: [0.25, 0.75], candidate: [0.25, 0.75] },
  );
  assertEquals(clusters[0]!.candidate, [0.375, 0.625]);
  assertEquals(missing, { baseline: 0, candidate: 1 });
  assertEquals(bounds.lowest[0]!.candidate, [0.375, 0.375]);
  assertEquals(bounds.highest[0]!.candidate, [0.375, 0.875]);
});
