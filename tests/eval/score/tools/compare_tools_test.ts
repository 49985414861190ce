import { assert, assertEquals, assertRejects } from "@std/assert";
import { createTrajectoryMatchEvaluator } from "npm:agentevals@0.0.7";
import {
  compareTools,
  type MatchTexts,
  UndecidedPattern,
} from "../../../../eval/score/tools/compare_tools.ts";
import { isSame, type PatternText } from "../../../../eval/score/same_args.ts";
import type { ObservedToolCall, ReferenceTool, ToolsMode } from "../../../../eval/test/tools.ts";
import { createRandom } from "../../../bench/random.ts";

const call = (name: string, args: ObservedToolCall["args"] = {}): ObservedToolCall => ({
  name,
  args,
  status: "ok",
  ms: 1,
});

/** As the worker decides, for patterns that both engines read alike. */
const matchTexts: MatchTexts = (pairs) =>
  Promise.resolve(pairs.map(({ pattern, text }) => new RegExp(pattern).test(text)));

const compare = (expected: ReferenceTool[], made: ObservedToolCall[], mode: ToolsMode = "exact") =>
  compareTools({ expected, made, mode }, matchTexts);

type Case = [
  name: string,
  expected: ReferenceTool[],
  made: ObservedToolCall[],
  scores: { f1: number; args: number | null; order: number },
];

const a = { name: "a" };
const b = { name: "b" };
const search = { name: "search", args: { q: "kettle", limit: 5 } };

const CASES: Case[] = [
  ["no call, if none is expected", [], [], { f1: 1, args: null, order: 1 }],
  ["a call where none is expected", [], [call("a")], { f1: 0, args: null, order: 0 }],
  ["no call where one is expected", [a], [], { f1: 0, args: null, order: 0 }],
  ["the expected calls", [a, b], [call("a"), call("b")], { f1: 1, args: null, order: 1 }],
  ["another order", [a, b], [call("b"), call("a")], { f1: 1, args: null, order: 0.5 }],
  ["one too many", [a], [call("a"), call("a")], { f1: 2 / 3, args: null, order: 0.5 }],
  ["one too few", [a, a], [call("a")], { f1: 2 / 3, args: null, order: 0.5 }],
  ["all arguments", [search], [call("search", search.args)], { f1: 1, args: 1, order: 1 }],
  ["one wrong argument", [search], [call("search", { q: "kettle", limit: 6 })], {
    f1: 1,
    args: 0.5,
    order: 1,
  }],
  ["an argument too many", [search], [call("search", { ...search.args, page: 2 })], {
    f1: 1,
    args: 2 / 3,
    order: 1,
  }],
  ["numbers that differ by rounding", [{ name: "add", args: { x: 0.3 } }], [
    call("add", { x: 0.1 + 0.2 }),
  ], { f1: 1, args: 1, order: 1 }],
  [
    "a pattern, and anything",
    [{
      name: "search",
      args: { q: { $regex: "^ket" }, limit: { $any: true } },
    }],
    [call("search", { q: "kettle", limit: 99 })],
    { f1: 1, args: 1, order: 1 },
  ],
  [
    "a pattern, and anything, inside of an argument",
    [{ name: "book", args: { who: { name: { $regex: "^An" }, id: { $any: true } }, days: [1] } }],
    [call("book", { who: { id: 7, name: "Ann" }, days: [1] })],
    { f1: 1, args: 1, order: 1 },
  ],
  [
    "a pattern inside of a list that does not match",
    [{ name: "book", args: { who: [{ $regex: "^An" }, { $any: true }] } }],
    [call("book", { who: ["Ben", "Cyd"] })],
    { f1: 1, args: 0, order: 1 },
  ],
  ["a pattern that does not match", [{ name: "search", args: { q: { $regex: "^pot" } } }], [
    call("search", { q: "kettle" }),
  ], { f1: 1, args: 0, order: 1 }],
  ["anything, but not given", [{ name: "search", args: { q: { $any: true } } }], [call("search")], {
    f1: 1,
    args: 0,
    order: 1,
  }],
  ["arguments that are no object", [search], [call("search", "{broken")], {
    f1: 1,
    args: 0,
    order: 1,
  }],
  ["a call that was not made counts 0", [search, { name: "buy", args: { id: 1 } }], [
    call("search", search.args),
  ], { f1: 2 / 3, args: 0.5, order: 0.5 }],
  ["nested arguments in any order of keys", [{
    name: "x",
    args: { o: { p: [1, { q: 2 }], r: 3 } },
  }], [
    call("x", { o: { r: 3, p: [1, { q: 2 }] } }),
  ], { f1: 1, args: 1, order: 1 }],
  [
    "calls are paired with the one they fit best",
    [
      { name: "s", args: { q: "a" } },
      { name: "s", args: { q: "b" } },
    ],
    [call("s", { q: "b" }), call("s", { q: "a" })],
    { f1: 1, args: 1, order: 1 },
  ],
];

for (const [name, expected, made, scores] of CASES) {
  Deno.test(`tool calls: ${name}`, async () => {
    const { fits: _, ...found } = await compare(expected, made);
    assertEquals(found, scores);
  });
}

Deno.test("modes decide whether the calls fit", async () => {
  const fits = async (expected: ReferenceTool[], made: ObservedToolCall[]) => {
    const modes: ToolsMode[] = ["exact", "any_order", "subset", "superset"];
    return await Promise.all(
      modes.map(async (mode) => (await compare(expected, made, mode)).fits),
    );
  };
  assertEquals(await fits([a, b], [call("a"), call("b")]), [true, true, true, true]);
  assertEquals(await fits([a, b], [call("b"), call("a")]), [false, true, true, true]);
  assertEquals(await fits([a, b], [call("a")]), [false, false, true, false]);
  assertEquals(await fits([a], [call("a"), call("b")]), [false, false, false, true]);
  assertEquals(await fits([], []), [true, true, true, true]);
  assertEquals(await fits([], [call("a")]), [false, false, false, true]);
  assertEquals(await fits([search], [call("search")]), [false, false, false, false]);
});

Deno.test("a call that fits several does not take the only one that another fits", async () => {
  const expected = [
    { name: "s", args: { q: { $any: true } } },
    { name: "s", args: { q: "b" } },
  ];
  const made = [call("s", { q: "b" }), call("s", { q: "a" })];
  assertEquals((await compare(expected, made, "any_order")).fits, true);
});

Deno.test("patterns are looked for in all arguments at once, and once in the same text", async () => {
  const expected = ["^k", "t$"].map(($regex) => ({ name: "s", args: { q: { $regex } } }));
  const made = ["kettle", "pot", "kettle"].map((q) => call("s", { q }));
  const asked: PatternText[][] = [];
  const { args } = await compareTools({ expected, made, mode: "any_order" }, (pairs) => {
    asked.push(pairs);
    return matchTexts(pairs);
  });
  assertEquals(args, 1);
  assertEquals(asked, [[
    { pattern: "^k", text: "kettle" },
    { pattern: "^k", text: "pot" },
    { pattern: "t$", text: "kettle" },
    { pattern: "t$", text: "pot" },
  ]]);
});

Deno.test("too many arguments for patterns are not compared, and that is said", async () => {
  const expected = [{ name: "s", args: { q: { $regex: "1" } } }];
  const made = Array.from({ length: 10_001 }, (_, index) => call("s", { q: `${index}` }));
  const { message } = await assertRejects(() => compare(expected, made), UndecidedPattern);
  assertEquals(message, "there are more than 10,000 arguments to compare with $regex");
});

Deno.test("JSON values are the same by what they hold", () => {
  const same: [unknown, unknown][] = [[1, 1 + 1e-12], [null, null], [[], []], [{}, {}], [
    1e20,
    1e20,
  ]];
  const different: [unknown, unknown][] = [
    [1, "1"],
    [null, {}],
    [[], {}],
    [[1], [1, 2]],
    [{ a: 1 }, { b: 1 }],
    [{ a: undefined }, {}],
    [1, 1.0001],
    [true, 1],
  ];
  for (const [left, right] of same) assertEquals(isSame(left, right), true);
  for (const [left, right] of different) assertEquals(isSame(left, right), false);
});

/** Our modes, and agentevals' names for them. */
const MODES = {
  exact: "strict",
  any_order: "unordered",
  subset: "subset",
  superset: "superset",
} as const satisfies Record<ToolsMode, string>;

interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** One message per call, as of agents that call one tool at a time: `strict` needs the order. */
function toMessages(calls: Call[]) {
  return [
    { role: "user" as const, content: "Question" },
    ...calls.flatMap(({ name, args }, index) => [
      {
        role: "assistant" as const,
        content: "",
        tool_calls: [{
          id: `c${index}`,
          type: "function" as const,
          function: { name, arguments: JSON.stringify(args) },
        }],
      },
      { role: "tool" as const, content: "done", tool_call_id: `c${index}` },
    ]),
    { role: "assistant" as const, content: "Answer" },
  ];
}

/** Up to four calls of three tools, with few different arguments: many pairs are nearly the same. */
function drawCalls(random: () => number): Call[] {
  return Array.from({ length: Math.floor(random() * 5) }, () => ({
    name: ["search", "buy", "pay"][Math.floor(random() * 3)]!,
    args: [{}, { q: 1 }, { q: 2, deep: { list: [1, "x"] } }][Math.floor(random() * 3)]!,
  }));
}

/** Half of the pairs are changed copies: pairs drawn apart would hardly ever fit. */
function drawPair(random: () => number): { expected: Call[]; made: Call[] } {
  const expected = drawCalls(random);
  if (random() < 0.3) return { expected, made: drawCalls(random) };
  const made = expected.filter(() => random() < 0.8);
  if (random() < 0.4) made.reverse();
  if (random() < 0.3) made.push(...drawCalls(random).slice(0, 1));
  return { expected, made };
}

Deno.test("the modes agree with agentevals on 60 trajectories each", async () => {
  const random = createRandom(17);
  const pairs = Array.from({ length: 60 }, () => drawPair(random));
  for (const [mode, theirs] of Object.entries(MODES) as [ToolsMode, (typeof MODES)[ToolsMode]][]) {
    const evaluate = createTrajectoryMatchEvaluator({ trajectoryMatchMode: theirs });
    let fitting = 0;
    for (const { expected, made } of pairs) {
      const { score } = await evaluate({
        outputs: toMessages(made),
        referenceOutputs: toMessages(expected),
      });
      const observed = made.map((call) => ({ ...call, status: null, ms: null }));
      const { fits } = await compareTools(
        { expected, made: observed, mode },
        (pairs) => Promise.resolve(pairs.map(() => false)),
      );
      assertEquals(fits, score, JSON.stringify({ mode, expected, made }));
      fitting += Number(fits);
    }
    assert(fitting >= 10 && fitting <= 50, `${mode}: ${fitting} of 60 fit`);
  }
});
