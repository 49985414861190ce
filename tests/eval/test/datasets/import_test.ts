import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { read, refuse, turns } from "./imported.ts";

Deno.test("scenarios of ours are read from lines and from one value", async () => {
  const scenario = { id: "a", interactions: [{ id: "1", user_message: "Hi" }], note: "kept" };
  for (
    const [name, text] of [
      ["jsonl", `\ufeff${JSON.stringify(scenario)}\r\n\r\n${JSON.stringify(scenario)}`],
      ["json", JSON.stringify([scenario, scenario], null, 2)],
      ["json", JSON.stringify({ test_batch: [scenario, scenario] })],
    ] as const
  ) {
    const found = await read(text);
    assertEquals([found.format, found.scenarios.length], [name, 2]);
    assertEquals(found.scenarios[1]!.note, "kept");
  }
});

Deno.test("a line that is not JSON, or no scenario, is named", async () => {
  const good = '{"id":"a","interactions":[{"id":"1","user_message":"Hi"}]}';
  assertEquals((await refuse(`${good}\n\n{"id":`)).line, 3);
  const wrong = await refuse(`${good}\n{"id":"b","interactions":[{"id":"1"}]}`);
  assertEquals(wrong.line, 2);
  assertEquals(wrong.reason.startsWith("interactions.0.user_message: "), true, wrong.reason);
});

Deno.test("rows of a table are turns; a mapping names the columns", async () => {
  const text = 'q,"a",topic,kind,extra\n"Where, ""here""?",There.,t1,place,x\n' +
    "And then?,Nothing.,t1,,x\nWho?,,t2,person,x\n";
  const found = await read(text, {
    columns: {
      user_message: "q",
      reference_reply: "a",
      scenario_id: "topic",
      metadata: { intent: "kind" },
    },
  });
  assertEquals(found.format, "csv");
  assertEquals(turns(found), [
    [['Where, "here"?', "There."], ["And then?", "Nothing."]],
    [["Who?", undefined]],
  ]);
  assertEquals(found.scenarios.map(({ id }) => id), ["t1", "t2"]);
  assertEquals(
    found.scenarios[0]!.interactions.map(({ reference_metadata }) => reference_metadata),
    [{ intent: "place" }, {}],
  );
  assertEquals(found.leftOut, [{ what: "the column extra", count: 1, line: 1 }]);
});

Deno.test("a table with our own names needs no mapping, and a missing column is named", async () => {
  const found = await read("user_message,reference_reply,metadata.intent\nHi,Hello,greeting\n");
  assertEquals(turns(found), [[["Hi", "Hello"]]]);
  assertEquals(found.scenarios[0]!.interactions[0]!.reference_metadata, { intent: "greeting" });
  const missing = await refuse("a,b\n1,2\n", { columns: { user_message: "question" } });
  assertEquals(missing.message, "line 1: there is no column question; the columns are a, b");
  assertEquals(
    (await refuse("Frage,Antwort\n1,2\n")).message,
    "line 1: there is no column user_message; name the one that holds it: --column " +
      "user_message=NAME, or column.user_message=NAME over HTTP (the columns are Frage, Antwort)",
  );
  assertEquals((await refuse('user_message,x\nfine,1\n"open', { name: "t.csv" })).line, 3);
});

Deno.test("a table may have the names of other tools, and the expected answer is the reference", async () => {
  const tables = [
    "question;answer;price\nWho?;Me.;1,50",
    "Prompt\tCompletion\nWho?\tMe.",
    "input,target\nWho?,Me.",
    "input,output\nWho?,Me.",
    "input,output,expected\nWho?,You.,Me.",
    "query,response,Ground Truth\nWho?,You.,Me.",
    "question,answer,contexts,ground_truth\nWho?,You.,,Me.",
    "input,expectedOutput\nWho?,Me.",
    "instruction,input,output\nWho?,,Me.",
    'inputs,reference_outputs,outputs\n"{""question"":""Who?""}","{""answer"":""Me.""}",You.',
  ];
  for (const table of tables) {
    assertEquals(turns(await read(table, { name: "t.csv" })), [[["Who?", "Me."]]], table);
  }
  const alpaca = await read("instruction,input,output\nTranslate,Yes,Ja\n");
  assertEquals(turns(alpaca), [[["Translate\n\nYes", "Ja"]]]);
  const mapped = await read("question,answer,label\nWho?,Me.,person\n", {
    columns: { metadata: { intent: "label" } },
  });
  assertEquals(turns(mapped), [[["Who?", "Me."]]]);
});

Deno.test("a table may be separated by semicolons or tabs, as spreadsheets write it", async () => {
  for (const separator of [",", ";", "\t"]) {
    const row = (...cells: string[]) => cells.map((cell) => `"${cell}"`).join(separator);
    const header = ["user_message", "reference_reply", "metadata.intent"];
    const text = [header.join(separator), row("Hi, you; there", "Hello", "greeting")].join("\r\n");
    for (const name of ["t.csv", "t.tsv", undefined]) {
      const found = await read(text, { ...(name && { name }) });
      assertEquals([found.format, turns(found)], ["csv", [[["Hi, you; there", "Hello"]]]]);
      assertEquals(found.scenarios[0]!.interactions[0]!.reference_metadata, { intent: "greeting" });
    }
  }
  const found = await read('inputs;outputs\n"{""question"":""Who?""}";Me.\n', { name: "t.csv" });
  assertEquals([found.format, turns(found)], ["langsmith", [[["Who?", "Me."]]]]);
});

Deno.test("a table whose conversations are mixed is refused at the first row out of place", async () => {
  const rows = (ids: string[]) =>
    ["scenario_id,user_message", ...ids.map((id) => `${id},Hi`)].join("\n");
  assertEquals(
    (await refuse(rows(["A", "B", "A", "B"]))).message,
    "line 4: the scenario A has rows further up, and others between; put its rows together",
  );
  assertEquals((await refuse(rows(["A", "", "A"]))).line, 4);
  const { scenarios } = await read(rows(["A", "A", "", "", "B"]));
  assertEquals(scenarios.map(({ id }) => id), ["A", "line-4", "line-5", "B"]);
});

Deno.test("a table with two columns of one name is refused, unless they have no name", async () => {
  for (const header of ["user_message,user_message,x", "inputs,outputs,inputs"]) {
    const [name] = header.split(",");
    assertEquals(
      (await refuse(`${header}\n1,2,3\n`, { name: "t.csv" })).message,
      `line 1: there are several columns ${name}; name them differently`,
    );
  }
  assertEquals(turns(await read("user_message,,\nHi,,\n", { name: "t.csv" })), [
    [["Hi", undefined]],
  ]);
});

Deno.test("a table with user_message is ours, whatever its other columns are called", async () => {
  const found = await read(
    "user_message,reference_reply,input_tokens,output_tokens\nHi,Hello,10,5\n",
    { name: "export.csv" },
  );
  assertEquals([found.format, turns(found)], ["csv", [[["Hi", "Hello"]]]]);
});

Deno.test("of the CSV file of a run, the first attempt of each scenario is read, as it was asked", async () => {
  const names = ["run_id", "scenario_id", "attempt_id", "user_message", "reference_reply"];
  const rows = [
    ["-a", 1, "- Hi", "=Hello"],
    ["-a", 1, "'Bye", "'- Goodbye"],
    ["-a", 2, "- Hi", "=Hello"],
    ["-a", 2, "'Bye", "'- Goodbye"],
    ["b", 2, "Who?", "''=Me"],
  ].map((row) => ["r1", ...row]);
  const escaped = (cell: string | number) => /^'*[-=]/.test(`${cell}`) ? `'${cell}` : cell;
  const found = await read([names, ...rows].map((row) => `${row.map(escaped).join()}\n`).join(""));
  assertEquals(turns(found), [
    [["- Hi", "=Hello"], ["'Bye", "'- Goodbye"]],
    [["Who?", "''=Me"]],
  ]);
  assertEquals(found.scenarios.map(({ id }) => id), ["-a", "b"]);
  assertEquals(found.leftOut, [
    { what: "rows of further attempts (attempt_id)", count: 2, line: 4 },
    { what: "the column run_id", count: 1, line: 1 },
  ]);
});

Deno.test("other tables may have a column attempt_id", async () => {
  const rows = "a,1,'- Hi\na,2,Bye\n";
  const found = await read(`scenario_id,attempt_id,user_message\n${rows}`);
  assertEquals(turns(found), [[["'- Hi", undefined], ["Bye", undefined]]]);
  assertEquals(found.leftOut, [{ what: "the column attempt_id", count: 1, line: 1 }]);

  const labelled = await read(`run_id,scenario_id,attempt_id,user_message\nr,a,1,Hi\nr,a,2,Bye\n`, {
    columns: { metadata: { attempt: "attempt_id" } },
  });
  assertEquals(turns(labelled), [[["Hi", undefined], ["Bye", undefined]]]);
});

Deno.test("rows without any text are skipped, as spreadsheets write them at the end", async () => {
  for (const separator of [",", ";", "\t"]) {
    const header = ["user_message", "reference_reply"];
    const rows = [header, ["Hi", "Hello"], ["", ""], ["Bye", ""], [" ", ""]];
    const text = rows.map((row) => row.join(separator)).join("\r\n");
    const found = await read(text, { name: "t.csv" });
    assertEquals(turns(found), [[["Hi", "Hello"]], [["Bye", undefined]]]);
    assertEquals(found.scenarios.map(({ id }) => id), ["line-2", "line-4"]);
  }
});

Deno.test("blanks around the names of columns do not count", async () => {
  const found = await read("user_message, reference_reply ,metadata.intent \nHi,Hello,greeting\n");
  assertEquals([found.format, turns(found)], ["csv", [[["Hi", "Hello"]]]]);
  assertEquals(found.scenarios[0]!.interactions[0]!.reference_metadata, { intent: "greeting" });
  assertEquals(found.leftOut, []);
  const columns = { user_message: "q", reference_reply: " a" };
  assertEquals(turns(await read("q, a\nHi,Hello\n", { columns })), [[["Hi", "Hello"]]]);
});

Deno.test("a column that a mapping replaces is reported", async () => {
  const found = await read("user_message,metadata.intent,kind\nHi,old,new\n", {
    columns: { metadata: { intent: "kind" } },
  });
  assertEquals(found.scenarios[0]!.interactions[0]!.reference_metadata, { intent: "new" });
  assertEquals(found.leftOut.map(({ what }) => what), ["the column metadata.intent"]);
});

Deno.test("lines of OpenAI evals become conversations", async () => {
  const found = await read(
    [
      '{"input":[{"role":"system","content":"Be brief."},{"role":"user","content":"2+2?"}],' +
      '"ideal":["4","four"]}',
      '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},' +
      '{"role":"user","content":[{"type":"text","text":"Bye"}]}],"ideal":"Goodbye"}',
      '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}],"x":1}',
    ].join("\n"),
  );
  assertEquals(found.format, "openai-evals");
  assertEquals(turns(found), [
    [["2+2?", "4"]],
    [["Bye", "Goodbye"]],
    [["Hi", "Hello"]],
  ]);
  assertEquals(found.scenarios[0]!.interactions[0]!.reference_replies, ["four"]);
  // What comes before the question is an example, and is sent as it is.
  assertEquals(found.scenarios.map(({ prior_messages }) => prior_messages), [
    undefined,
    [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }],
    undefined,
  ]);
  assertEquals(found.leftOut.map(({ what, line }) => [what, line]), [["the field x", 3]]);
  assertEquals((await refuse('{"messages":[],"ideal":"x"}')).line, 1);
});

Deno.test("numbers in ideal are answers, and what is left out of OpenAI evals is reported", async () => {
  const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
  const user = { role: "user", content: [image, { type: "text", text: "2+2?" }] };
  const assistant = (content: string) => ({ role: "assistant", content });
  const tool_calls = [{ id: "c", type: "function", function: { name: "add", arguments: "{}" } }];
  const found = await read(
    [
      { input: "2+2?", ideal: 4 },
      { input: "2+2?", ideal: [4, "four"] },
      { input: "2+2?", ideal: [["4"]] },
      { input: "2+2?", ideal: null },
      { messages: [user, { ...assistant("Let me see."), tool_calls }, assistant("4")] },
      { messages: [user, assistant("5")], ideal: "4" },
    ].map((line) => JSON.stringify(line)).join("\n"),
  );
  const answers = ["4", "4", undefined, undefined, "4", "4"];
  assertEquals(turns(found), answers.map((answer) => [["2+2?", answer]]));
  assertEquals(found.leftOut.map(({ what, line }) => [what, line]), [
    ["parts of messages of the type image_url", 5],
    ["answers in ideal that are no text", 3],
    ["tool_calls of messages", 5],
    ["all assistant messages in a row but the last", 5],
    ["the last message, because ideal is the reference", 6],
  ]);
});

Deno.test("a LangSmith export with messages reports what is beside them", async () => {
  const cell = (value: unknown) => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
  const messages = [{ role: "user", content: "Hi" }];
  const answer = [{ role: "assistant", content: "Hello" }];
  const inputs = cell({ messages, context: "c" });
  const outputs = cell({ messages: answer, sources: [] });
  const found = await read(`inputs,outputs\n${inputs},${outputs}\n`, { name: "export.csv" });
  assertEquals(turns(found), [[["Hi", "Hello"]]]);
  assertEquals(found.leftOut.map(({ what }) => what), ["context of inputs", "sources of outputs"]);
});

Deno.test("a LangSmith export has messages in each form of LangChain, and answers that are no text", async () => {
  const cell = (value: unknown) => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
  const forms = [
    (type: string, content: string) => ({ type, content }),
    (type: string, content: string) => ({ type, data: { content } }),
    (type: string, content: string) => ({
      lc: 1,
      type: "constructor",
      id: ["langchain", "schema", "messages", type === "ai" ? "AIMessage" : "HumanMessage"],
      kwargs: { content },
    }),
  ];
  const rows = forms.map((form) => {
    const messages = [form("human", "Hi"), form("ai", "Hello"), form("human", "Bye")];
    return `${cell({ messages })},${cell({ output: form("ai", "Goodbye") })}`;
  });
  const other = `${cell({ question: "2+2?" })},${cell({ confidence: 1, answer: 4 })}`;
  const found = await read(["inputs,outputs", ...rows, other].join("\n"), { name: "export.csv" });
  assertEquals(turns(found), [
    ...forms.map(() => [["Bye", "Goodbye"]]),
    [["2+2?", "4"]],
  ]);
  assertEquals(found.leftOut.map(({ what }) => what), ["confidence of outputs"]);
});

Deno.test("a LangSmith export is read with JSON columns and with a column per key", async () => {
  const asJson = await read(
    'id,inputs,outputs,created_at\ne1,"{""question"":""Who?"",""hint"":""h""}",' +
      '"{""answer"":""Me.""}",2026\n' +
      'e2,"{""messages"":[{""role"":""user"",""content"":""Hi""}]}",' +
      '"{""messages"":[{""role"":""assistant"",""content"":""Hello""}]}",2026\n',
    { name: "export.csv" },
  );
  assertEquals(asJson.format, "langsmith");
  assertEquals(turns(asJson), [[["Who?", "Me."]], [["Hi", "Hello"]]]);
  assertEquals(asJson.scenarios.map(({ id }) => id), ["e1", "e2"]);
  assertEquals(asJson.leftOut, [{ what: "hint of inputs", count: 1, line: 2 }]);
  const asColumns = await read("id,input_question,output_answer\n1,Who?,Me.\n");
  assertEquals([asColumns.format, turns(asColumns)], ["langsmith", [[["Who?", "Me."]]]]);
});

const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");

/** Each with an empty question in its second row. */
const WITH_EMPTY: Record<string, { text: string; line: number; name?: string }> = {
  csv: { text: "user_message,reference_reply\nHi,Hello\n ,Nothing\nBye,Goodbye\n", line: 3 },
  "openai-evals": {
    text: lines(
      { input: [{ role: "user", content: "Hi" }], ideal: "Hello" },
      { input: [{ role: "user", content: "" }], ideal: "Nothing" },
      { input: [{ role: "user", content: "Bye" }], ideal: "Goodbye" },
    ),
    line: 2,
  },
  langsmith: {
    text: 'id,inputs,outputs\n1,"{""question"":""Hi""}","{""answer"":""Hello""}"\n' +
      '2,,"{""answer"":""Nothing""}"\n3,"{""question"":""Bye""}","{""answer"":""Goodbye""}"\n',
    line: 3,
  },
  promptfoo: {
    name: "promptfooconfig.yaml",
    text: `prompts: ["{{q}}"]
tests:
  - vars: { q: Hi }
    assert: [{ type: similar, value: Hello }]
  - vars: { q: "" }
    assert: [{ type: similar, value: Nothing }]
  - vars: { q: Bye }
    assert: [{ type: similar, value: Goodbye }]
`,
    line: 5,
  },
};

for (const [format, { text, line, name = "" }] of Object.entries(WITH_EMPTY)) {
  Deno.test(`rows without a question are reported, and not asked: ${format}`, async () => {
    const found = await read(text, { name });
    assertEquals(found.format, format);
    assertEquals(turns(found), [[["Hi", "Hello"]], [["Bye", "Goodbye"]]]);
    assertEquals(found.leftOut, [{ what: "rows without a question", count: 1, line }]);
  });
}

Deno.test("a turn of ours without a question is kept: the model may open the conversation", async () => {
  const scenario = { id: "a", interactions: [{ id: "1", user_message: "" }] };
  const found = await read(JSON.stringify([scenario]));
  assertEquals([found.scenarios.length, found.leftOut], [1, []]);
});

Deno.test("a column of a table may hold further references, as a run's export has them", async () => {
  const found = await read('user_message,reference_reply,reference_replies\n2+2?,4,"[""four""]"\n');
  assertEquals(found.scenarios[0]!.interactions[0]!.reference_replies, ["four"]);
  assertEquals(found.leftOut, []);
});

Deno.test("examples in OpenAI's system messages are sent before the question", async () => {
  const example = (name: string, content: string) => ({ role: "system", name, content });
  const input = [
    { role: "system", content: "Be brief." },
    example("example_user", "1+1?"),
    example("example_assistant", "2"),
    { role: "user", content: "2+2?" },
  ];
  const { scenarios: [scenario] } = await read(JSON.stringify({ input, ideal: "4" }));
  assertEquals(scenario!.system_prompt, "Be brief.");
  assertEquals(scenario!.prior_messages, [
    { role: "user", content: "1+1?" },
    { role: "assistant", content: "2" },
  ]);
  assertEquals(scenario!.interactions.map(({ user_message }) => user_message), ["2+2?"]);
});

Deno.test("lines may end in any way, and blank ones are counted", async () => {
  const good = '{"id":"a","interactions":[{"id":"1","user_message":"\u2028é"}]}';
  const text = `\ufeff${good}\r\n\n \n${good}\n`;
  assertEquals(turns(await read(text)), [[["\u2028é", undefined]], [["\u2028é", undefined]]]);
  assertEquals((await refuse(`${text}{`)).line, 5);
});

const refuseTable = (pieces: Iterable<string>) => refuse(pieces, { name: "t.csv" });

const names = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`).join();

Deno.test("a table may have ten thousand columns, but not more", async () => {
  const cells = ",x".repeat(9_999);
  const file = [`user_message,${names(9_999)}\n`, `Hi${cells}\n`];
  assertEquals((await read(file, { name: "t.csv" })).scenarios.length, 1);
  const { line, reason } = await refuseTable([`user_message,${names(20_000)}\n`]);
  assertEquals([line, reason], [1, "there are more than 10000 columns"]);
});

Deno.test("a table with 200,000 columns is refused before it is read to the end of its first row", async () => {
  const header = `user_message,${names(200_000)}\n`;
  const pieces = header.match(/[^]{1,65536}/g)!;
  let taken = 0;
  const counted = {
    *[Symbol.iterator]() {
      for (const piece of pieces) {
        taken++;
        yield piece;
      }
    },
  };
  const { reason } = await refuseTable(counted);
  assertEquals(reason, "there are more than 10000 columns");
  assert(taken < pieces.length, `${taken} of ${pieces.length} pieces were read`);
});

Deno.test("a message about a missing column names the first columns only, and not whole texts", async () => {
  const { reason } = await refuseTable([
    `${"a".repeat(10_000)},${names(9_000)}\n1${",2".repeat(9_000)}\n`,
  ]);
  assertStringIncludes(reason, `${"a".repeat(99)}…, c0, c1, `);
  assertStringIncludes(reason, ", c48 and 8951 more)");
});

Deno.test("a row of a table is not collected without bound, be it text or separators", async () => {
  const header = "user_message,b\nfine,1\n";
  const piece = 1_000_000;
  const repeat = (text: string) => Array.from({ length: 17 }, () => text.repeat(piece));
  const text = await refuseTable([header, '"\n', ...repeat("a").map((lines) => `${lines}\n`)]);
  assertStringIncludes(text.reason, "16000000");
  const separators = await refuseTable([header, ...repeat(",")]);
  assertEquals([separators.line, separators.reason], [3, "it is longer than 16000000 characters"]);
});
