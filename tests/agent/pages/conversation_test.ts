import { assertEquals, assertThrows } from "@std/assert";
import { toChunk, toUsageChunk } from "../../../agent/http/openai/completion.ts";
import { type Chunk, createAnswerBuilder } from "../../../agent/pages/answer_stream.ts";
import {
  type Answer,
  answerText,
  branchesOf,
  createConversation,
  DEFAULT_SETTINGS,
  mergeConversations,
  shownTurns,
  titleOf,
  type Turn,
  withAnswer,
  withCutAnswers,
  withShown,
  withTurn,
} from "../../../agent/pages/conversation/conversation.ts";
import {
  FileProblem,
  parseConversations,
  toJsonFile,
  toMarkdownFile,
} from "../../../agent/pages/conversation/conversation_file.ts";
import { describeRepairs } from "../../../agent/pages/answer_view.tsx";
import { datasetLink, parseEvalAddress } from "../../../agent/pages/save_test/add_to_dataset.tsx";
import { draftTest, slugOf, toScenario } from "../../../agent/pages/save_test/test_scenario.ts";
import { Scenario } from "../../../eval/test/scenario.ts";

const empty = () => createConversation({ models: ["a/b"], settings: DEFAULT_SETTINGS, now: 1 });

const answerOf = (text: string, status: Answer["status"] = "done"): Answer => ({
  model: "a/b",
  status,
  parts: [{ type: "text", text }],
});

const turnOf = (id: string, parent: string | null, at = 1): Turn => ({
  id,
  parent,
  text: `text of ${id}`,
  answers: [answerOf(`reply to ${id}`)],
  sentAt: at,
  changedAt: at,
});

Deno.test("an edited message is a branch beside the old one, with its own turns after it", () => {
  const first = [turnOf("1", null), turnOf("2", "1")].reduce(withTurn, empty());
  const edited = withTurn(first, turnOf("1b", null, 2));
  assertEquals(shownTurns(edited).map(({ id }) => id), ["1b"]);
  assertEquals(branchesOf(edited, edited.turns["1"]!).map(({ id }) => id), ["1", "1b"]);
  const back = withShown(edited, edited.turns["1"]!);
  assertEquals(shownTurns(back).map(({ id }) => id), ["1", "2"]);
});

Deno.test("turns that lead to themselves end", () => {
  const circle = { ...empty(), turns: { a: turnOf("a", "a") }, shown: { "": "a", a: "a" } };
  assertEquals(shownTurns(circle).length, 1);
});

Deno.test("the title is the person's, else the first line of the first message, shortened", () => {
  assertEquals(titleOf(empty()), "New conversation");
  const long = withTurn(empty(), { ...turnOf("1", null), text: `${"x".repeat(80)}\nsecond line` });
  assertEquals(titleOf(long), `${"x".repeat(59)}…`);
  assertEquals(titleOf({ ...long, title: "Mine" }), "Mine");
});

Deno.test("answers that were under way when the page was closed are cut, others stay", () => {
  const conversation = withTurn(empty(), {
    ...turnOf("1", null),
    answers: [answerOf("half", "streaming"), answerOf("whole")],
  });
  const statuses = withCutAnswers(conversation).turns["1"]!.answers.map(({ status }) => status);
  assertEquals(statuses, ["cut", "done"]);
});

Deno.test("what two tabs have added to a conversation is kept, and of one turn the newer state", () => {
  const common = withTurn(empty(), turnOf("1", null));
  const mine = withTurn(common, turnOf("mine", "1", 2));
  const theirs = withAnswer(withTurn(common, turnOf("theirs", "1", 3)), {
    turnId: "1",
    column: 0,
    answer: answerOf("newer"),
    now: 9,
  });
  const merged = mergeConversations(theirs, mine);
  assertEquals(Object.keys(merged.turns).toSorted(), ["1", "mine", "theirs"]);
  assertEquals(merged.turns["1"]!.answers[0], answerOf("newer"));
});

Deno.test("the texts before and after a tool call are not joined to one word", () => {
  const call = { type: "tool", id: "1", name: "calculator", args: {} } as const;
  const { parts: [before] } = answerOf("Let me calculate.");
  const { parts: [after] } = answerOf("It is 42.");
  const answer = (...parts: Answer["parts"]): Answer => ({ model: "a/b", status: "done", parts });
  assertEquals(answerText(answer(before!, call, call, after!)), "Let me calculate.\n\nIt is 42.");
  assertEquals(answerText(answer(call, after!)), "It is 42.");
  const thought = { type: "reasoning", text: "Hm." } as const;
  assertEquals(answerText(answer(before!, thought, after!)), "Let me calculate.It is 42.");
});

const conversation = withTurn(
  createConversation({ models: ["a/b", "c/d"], settings: DEFAULT_SETTINGS, now: 1 }),
  {
    id: "1",
    parent: null,
    text: "Hello",
    answers: [
      { model: "a/b", status: "done", parts: [{ type: "text", text: "Hi." }] },
      { model: "c/d", status: "cut", parts: [{ type: "reasoning", text: "Hm" }] },
    ],
    sentAt: 1,
    changedAt: 1,
  },
);

Deno.test("an exported conversation is imported whole, under an id of its own", () => {
  const [imported] = parseConversations(toJsonFile([conversation]));
  assertEquals(imported?.id === conversation.id, false);
  assertEquals({ ...imported, id: conversation.id }, conversation);
});

Deno.test("a file with anything else in its fields is read as what it should be", () => {
  const file = {
    format: "assay-conversations",
    conversations: [{
      turns: { a: { id: "a", text: 7, answers: [{ parts: [{ type: "x" }, 3] }] } },
      shown: { "": "a", b: 2 },
    }],
  };
  const [imported] = parseConversations(JSON.stringify(file));
  const [turn] = shownTurns(imported!);
  assertEquals([turn?.text, turn?.answers], ["", [{ model: "", status: "cut", parts: [] }]]);
  assertEquals(imported?.settings, DEFAULT_SETTINGS);
});

Deno.test("other files are refused", () => {
  for (const text of ["", "{", "[]", "{}", '{"format":"assay-conversations"}']) {
    assertThrows(() => parseConversations(text), FileProblem);
  }
});

Deno.test("the Markdown file has the shown messages and the text of each answer", () => {
  assertEquals(
    toMarkdownFile(conversation),
    "# Hello\n\n**You:**\n\nHello\n\n**a/b:**\n\nHi.\n\n**c/d:**\n\n\n",
  );
});

const frame = { id: "c", created: 0, model: "a/answered" };
const fresh: Answer = { model: "a/b", status: "streaming", parts: [] };
const chunk = (delta: unknown) => toChunk(frame, { delta }) as Chunk;

function clock() {
  let now = 0;
  return { now: () => now, pass: (ms: number) => void (now += ms) };
}

Deno.test("text, reasoning and tool calls become parts, in the order in which they came", () => {
  const builder = createAnswerBuilder(fresh);
  const call = {
    type: "tool_call",
    id: "1",
    name: "calculator",
    args: { expression: "1+1" },
  } as const;
  const result = {
    type: "tool_result",
    id: "1",
    name: "calculator",
    content: "2",
    status: "ok",
    ms: 3,
  } as const;
  for (
    const delta of [
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { reasoning_content: "m." },
      { content: "I will " },
      { content: "count." },
      { tool_events: [call] },
      { tool_events: [result] },
      { content: "\n\nIt is 2." },
    ]
  ) builder.add(chunk(delta));
  assertEquals(builder.answer().parts, [
    { type: "reasoning", text: "Hmm." },
    { type: "text", text: "I will count." },
    {
      type: "tool",
      id: "1",
      name: "calculator",
      args: { expression: "1+1" },
      result: { content: "2", status: "ok", ms: 3 },
    },
    { type: "text", text: "It is 2." },
  ]);
});

Deno.test("content in parts, as a model alone may send it, is text and reasoning", () => {
  const builder = createAnswerBuilder(fresh);
  for (
    const content of [
      [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }],
      [{ type: "thinking", thinking: "m." }, null],
      [{ type: "text", text: "It " }, "is "],
      "2.",
    ]
  ) builder.add(chunk({ content }));
  for (const field of [{ reasoning: { a: 1 } }, { content: 5 }, { refusal: [] }]) {
    builder.add(chunk(field));
  }
  assertEquals(builder.answer().parts, [
    { type: "reasoning", text: "Hmm." },
    { type: "text", text: "It is 2." },
  ]);
});

Deno.test("the facts are those of the agent's account, with the times that the person saw", () => {
  const { now, pass } = clock();
  const builder = createAnswerBuilder(fresh, now);
  pass(100);
  builder.add(chunk({ role: "assistant", content: "" }));
  pass(50);
  builder.add(chunk({ content: "Hi" }));
  pass(200);
  const account = {
    model: "a/fallback",
    model_calls: 2,
    tool_calls: 1,
    input_tokens: 10,
    output_tokens: 4,
    model_ms: 1,
    tools_ms: 1,
    stopped: null,
    history_repairs: "merged=1",
  };
  builder.add({ ...chunk({}), agent: account });
  assertEquals(builder.end("done").facts, {
    model: "a/fallback",
    modelCalls: 2,
    toolCalls: 1,
    inputTokens: 10,
    outputTokens: 4,
    firstTokenMs: 150,
    totalMs: 350,
    repairs: "merged=1",
  });
});

Deno.test("without the agent the facts come from the usage of the one call", () => {
  const builder = createAnswerBuilder(fresh, () => 0);
  builder.add(chunk({ content: "Hi" }));
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  builder.add(toUsageChunk(frame, usage));
  const { facts } = builder.end("done");
  assertEquals([facts?.modelCalls, facts?.inputTokens, facts?.outputTokens], [1, 5, 7]);
  assertEquals(builder.end("stopped").facts, undefined);
});

Deno.test("an answer that a limit of the provider ended says so, with text or without", () => {
  const reasons = { length: "max_tokens", content_filter: "content_filter", stop: undefined };
  for (const [finishReason, stopped] of Object.entries(reasons)) {
    const builder = createAnswerBuilder(fresh, () => 0);
    builder.add(toChunk(frame, { finishReason }) as Chunk);
    assertEquals(builder.end("done").facts?.stopped, stopped);
  }
});

Deno.test("calls that wait become parts at the end, and the answer goes on with what they did", () => {
  const first = createAnswerBuilder(fresh, () => 0);
  const piece = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
  first.add(chunk({ content: "Let me see." }));
  first.add(piece(0, { id: "x", function: { name: "calculator", arguments: '{"expression":' } }));
  first.add(piece(0, { function: { arguments: '"1+1"}' } }));
  const call = { type: "tool", id: "x", name: "calculator", args: { expression: "1+1" } } as const;
  const waiting = first.end("done");
  const approval = { state: "waiting", round: 0 } as const;
  assertEquals(waiting.parts.at(-1), { ...call, approval });

  const approved = { ...call, approval: { ...approval, state: "approved" as const } };
  const rest = createAnswerBuilder(
    { ...waiting, parts: waiting.parts.with(-1, approved) },
    () => 0,
  );
  const { type: _, args, ...named } = call;
  rest.add(chunk({ tool_events: [{ type: "tool_call", ...named, args }] }));
  const result = { content: "2", status: "ok", ms: 1 } as const;
  rest.add(chunk({ tool_events: [{ type: "tool_result", ...named, ...result }] }));
  rest.add(chunk({ content: "It is 2." }));
  rest.add(piece(0, { id: "y", function: { name: "current_time", arguments: "{}" } }));
  const { parts, facts } = rest.end("done");
  assertEquals(parts, [
    { type: "text", text: "Let me see." },
    { ...approved, result },
    { type: "text", text: "It is 2." },
    {
      type: "tool",
      id: "y",
      name: "current_time",
      args: {},
      approval: { state: "waiting", round: 1 },
    },
  ]);
  assertEquals(facts?.modelCalls, 2);
});

Deno.test("an address of assay-eval is read as people write it", () => {
  const cases: [string, string | undefined][] = [
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    [" https://eval.example.com/ui/runs?sort=name#x ", "https://eval.example.com"],
    ["localhost:8080", "http://localhost:8080"],
    ["eval.example.com/", "http://eval.example.com"],
    ["", undefined],
    ["http://", undefined],
    ["javascript:pwned()", undefined],
    ["javascript://%0Apwned()", undefined],
    ["data://text/html,x", undefined],
    ["two words", undefined],
  ];
  for (const [typed, address] of cases) assertEquals(parseEvalAddress(typed), address, typed);
});

Deno.test("a link to the dashboard has the scenario in its fragment", () => {
  const interactions = [{ id: "1", user_message: 'A & "b" #c\n你好', reference_reply: "50 %" }];
  const scenario = { id: "x", interactions };
  const url = new URL(datasetLink("http://127.0.0.1:8080", scenario)!);
  assertEquals(url.origin + url.pathname + url.search, "http://127.0.0.1:8080/ui/datasets/add");
  const [, json = ""] = /^#scenario=([^&]*)$/.exec(url.hash) ?? [];
  assertEquals(JSON.parse(decodeURIComponent(json)), scenario);
});

Deno.test("a scenario that is too long for an address has no link", () => {
  const interactions = [{ id: "1", user_message: "x".repeat(1_500_000) }];
  assertEquals(datasetLink("http://127.0.0.1:8080", { id: "x", interactions }), undefined);
});

const said = (model: string, text: string) => ({
  model,
  status: "done" as const,
  parts: [{ type: "text" as const, text }],
});

const compared = withTurn(
  createConversation({ models: ["a/b", "c/d"], settings: DEFAULT_SETTINGS }),
  {
    id: "1",
    parent: null,
    text: "Hello",
    answers: [said("a/b", "Hi."), said("c/d", "Good day.")],
    sentAt: 1,
    changedAt: 1,
  },
);

Deno.test("a conversation becomes a scenario with one model's replies as references", () => {
  const scenario = Scenario.parse(toScenario(draftTest(compared, 1)));
  assertEquals(scenario.id, "hello");
  assertEquals(scenario.interactions[0]?.user_message, "Hello");
  assertEquals(scenario.interactions[0]?.reference_reply, "Good day.");
});

Deno.test("a turn that is left out is not in the scenario, and an empty reference is none", () => {
  const draft = draftTest(compared, 0);
  const without = {
    ...draft,
    turns: draft.turns.map((turn) => ({ ...turn, referenceReply: " " })),
  };
  assertEquals("reference_reply" in toScenario(without).interactions[0]!, false);
  const none = { ...draft, turns: draft.turns.map((turn) => ({ ...turn, isIncluded: false })) };
  assertEquals(toScenario(none).interactions, []);
});

Deno.test("the system prompt and the tool calls of a conversation are part of its test", () => {
  const called = withTurn(
    createConversation({
      models: ["a/b"],
      settings: { ...DEFAULT_SETTINGS, systemPrompt: "Be short." },
    }),
    {
      id: "1",
      parent: null,
      text: "What time is it?",
      answers: [{
        model: "a/b",
        status: "done",
        parts: [
          { type: "tool", id: "t", name: "current_time", args: { zone: "UTC" } },
          { type: "text", text: "Noon." },
        ],
      }],
      sentAt: 1,
      changedAt: 1,
    },
  );
  const draft = draftTest(called, 0);
  const scenario = Scenario.parse(toScenario(draft));
  assertEquals(scenario.system_prompt, "Be short.");
  assertEquals(scenario.interactions[0]?.reference_tools, [
    { name: "current_time", args: { zone: "UTC" } },
  ]);
  const without = {
    ...draft,
    systemPrompt: "",
    turns: draft.turns.map((turn) => ({ ...turn, expectsTools: false })),
  };
  const plain = toScenario(without);
  assertEquals(["system_prompt" in plain, "reference_tools" in plain.interactions[0]!], [
    false,
    false,
  ]);
});

Deno.test("ids of tests are names of files too", () => {
  assertEquals(slugOf("What are your Opening Hours?"), "what-are-your-opening-hours");
  assertEquals(slugOf("../../etc/passwd"), "etc-passwd");
  assertEquals(slugOf("今天 天气"), "今天-天气");
  assertEquals(slugOf("???"), "conversation");
});

Deno.test("repairs of the history are said in words, and unknown ones as they are", () => {
  assertEquals(
    describeRepairs("merged=2, cut=1"),
    "The conversation was repaired for the model: 2 messages were joined with the one before; " +
      "the oldest 1 message was left out.",
  );
  assertEquals(describeRepairs("new=1"), "The conversation was repaired for the model: new=1.");
});
