import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { type BatchOptions, parseBatch, readBatch } from "../../../eval/cli/batch.ts";
import { UsageError } from "../../../eval/cli/command.ts";

const turn = { id: "t", user_message: "hello" };
const first = { id: "first", interactions: [turn] };
const second = { id: "second", interactions: [turn] };
const flags: BatchOptions = { endpoint: "http://model.example", model_id: "m" };

const parse = (text: string, options: BatchOptions = flags) =>
  parseBatch(text, { options, maxAttempts: 1000 }).request;

const inputs: [name: string, text: string, scenarios: string[]][] = [
  ["one request body", JSON.stringify({ test_batch: first }), ["first"]],
  ["a request body with several scenarios", JSON.stringify({ test_batch: [first, second] }), [
    "first",
    "second",
  ]],
  ["an array of scenarios", JSON.stringify([first, second], null, 2), ["first", "second"]],
  ["one scenario", JSON.stringify(first), ["first"]],
  ["one scenario per line", `${JSON.stringify(first)}\n${JSON.stringify(second)}\n`, [
    "first",
    "second",
  ]],
  [
    "lines with blank ones between, as Windows ends them",
    [
      JSON.stringify(first),
      "",
      JSON.stringify(second),
      "",
    ].join("\r\n"),
    ["first", "second"],
  ],
  ["a file that begins with a byte order mark", `\ufeff${JSON.stringify([first])}`, ["first"]],
];
for (const [name, text, scenarios] of inputs) {
  Deno.test(`a batch may be ${name}`, () => {
    assertEquals(parse(text).test_batch.map(({ id }) => id), scenarios);
  });
}

Deno.test("a request body needs no options, and options win over it", () => {
  const body = JSON.stringify({
    test_batch: first,
    endpoint: "http://body.example",
    model_id: "from the body",
    attempts: 3,
    parameters: { temperature: 0 },
  });
  const plain = parse(body, {});
  assertEquals([plain.endpoint, plain.model_id, plain.attempts], [
    "http://body.example",
    "from the body",
    3,
  ]);
  const changed = parse(body, { model_id: "from the command line", attempts: 5 });
  assertEquals([changed.model_id, changed.attempts], ["from the command line", 5]);
  assertEquals(changed.parameters, { temperature: 0 });
});

const faults: [name: string, text: string, message: string][] = [
  ["broken JSON", '{"test_batch": ', "it is not JSON"],
  [
    "a broken line",
    `${JSON.stringify(first)}\n{"id": \n`,
    "line 2 is not JSON",
  ],
  [
    "a number",
    "7",
    "it must hold one request body, an array of scenarios, or one scenario per line",
  ],
  ["nothing", "", "it is empty"],
  [
    "a scenario without turns",
    JSON.stringify([first, { id: "x" }]),
    "test_batch.1.interactions: ",
  ],
];
for (const [name, text, message] of faults) {
  Deno.test(`a batch that holds ${name} is refused, and the message says where`, () => {
    assertStringIncludes(assertThrows(() => parse(text), UsageError).message, message);
  });
}

Deno.test("what is missing is named with the option that gives it", () => {
  const { message } = assertThrows(() => parse(JSON.stringify([first]), {}), UsageError);
  assertStringIncludes(message, "endpoint (--endpoint URL): ");
  assertStringIncludes(message, "model_id (--model ID): ");
});

Deno.test("a table needs the names of its columns, and says what it has if they are wrong", async () => {
  const file = { text: "q,a,other\nWho?,Me.,x\n", name: "t.csv" };
  const read = (columns: string[], format?: string) =>
    readBatch({ ...file, columns, format }, { options: flags, maxAttempts: 9 });
  const { request, leftOut } = await read(["user_message=q", "reference_reply=a"]);
  assertEquals(request.test_batch[0]!.interactions[0]!.reference_reply, "Me.");
  assertEquals(leftOut.map(({ what }) => what), ["the column other"]);
  for (
    const [columns, format, words] of [
      [["user_message=question"], undefined, "there is no column question; the columns are q, a"],
      [["q"], undefined, "write FIELD=COLUMN"],
      [[], "excel", "the formats are jsonl, json, csv, promptfoo"],
    ] as const
  ) {
    await assertRejects(() => read([...columns], format), UsageError, words);
  }
});

Deno.test("an empty file is called empty, whatever its name", async () => {
  for (const name of ["b.json", "-"]) {
    for (const text of ["", "\ufeff\r\n"]) {
      const reading = readBatch({ text, name, columns: [] }, { options: flags, maxAttempts: 9 });
      await assertRejects(() => reading, UsageError, "cannot use the batch: it is empty");
    }
  }
});

Deno.test("an error in a file of lines is reported with the file's line", () => {
  const lines = [first, "", { ...second, interactions: [{ id: 7 }] }, "", { id: "none" }]
    .map((line) => line && JSON.stringify(line)).join("\n");
  const { message } = assertThrows(() => parse(lines), UsageError);
  assertStringIncludes(message, "  line 3, interactions.0.id: ");
  assertStringIncludes(message, "  line 3, interactions.0.user_message: ");
  assertStringIncludes(message, "  line 5, interactions: ");
});
