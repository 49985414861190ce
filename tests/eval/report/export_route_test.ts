import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { exportFormats } from "../../../eval/report/export_formats.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";

const get = (path: string) => new Request(`http://127.0.0.1:8080${path}`);

const body = evaluateBody({
  attempts: 2,
  test_batch: [{
    id: "greeting",
    interactions: [
      { id: "hello", user_message: "Hello", reference_reply: "Hi there" },
      { id: "bye", user_message: "Bye", reference_reply: "fine" },
    ],
  }],
});

/** By which programs know the files. A new format need not be here. */
const types: Record<string, string> = {
  json: "application/json",
  jsonl: "application/jsonl",
  csv: "text/csv; charset=utf-8; header=present",
  junit: "application/xml; charset=utf-8",
  markdown: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
};

for (const { name, extension, contentType } of exportFormats) {
  Deno.test(`a finished run is exported as ${name}, a file of its own type`, async () => {
    const { service } = evalService();
    const { run_id } = await evaluateWith(service, body);
    const response = await service(get(`/runs/${run_id}/export?format=${name}`));
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), types[name] ?? contentType);
    assertEquals(
      response.headers.get("content-disposition"),
      `attachment; filename="assay-${run_id}.${extension}"`,
    );
    assertStringIncludes(await response.text(), "greeting");
  });
}

Deno.test("the JSON export is the answer that the caller got", async () => {
  const { service } = evalService();
  const answer = await evaluateWith(service, body);
  const response = await service(get(`/runs/${answer.run_id}/export`));
  assertEquals(await response.json(), answer);
});

Deno.test("bom=off leaves out the byte order mark of a CSV file", async () => {
  const { service } = evalService();
  const { run_id } = await evaluateWith(service, body);
  const start = async (query: string) => {
    const response = await service(get(`/runs/${run_id}/export?format=csv${query}`));
    return [...(await response.bytes()).subarray(0, 3)];
  };
  assertEquals(await start(""), [0xef, 0xbb, 0xbf]);
  assertEquals(await start("&bom=off"), [...new TextEncoder().encode('"ru')]);
});

Deno.test("an export may have a threshold of its own", async () => {
  const { service } = evalService();
  const { run_id } = await evaluateWith(service, body);
  const count = async (threshold: number) => {
    const path = `/runs/${run_id}/export?format=junit&threshold=${threshold}`;
    return (await (await service(get(path))).text()).match(/<failure /g)?.length ?? 0;
  };
  assertEquals([await count(0), await count(0.7)], [0, 2]);
});

Deno.test("a Markdown export shows the comparison with a baseline", async () => {
  const { service } = evalService();
  const { run_id: baseline } = await evaluateWith(service, body);
  const { run_id } = await evaluateWith(service, body);
  const path = `/runs/${run_id}/export?format=markdown&baseline=${baseline}`;
  const text = await (await service(get(path))).text();
  assertStringIncludes(text, `### Compared with \`${baseline}\`: overall inconclusive`);
});

Deno.test("an unknown format is refused by name", async () => {
  const { service } = evalService();
  const response = await service(get("/runs/x/export?format=pdf"));
  const problem = await response.json();
  assertEquals([response.status, problem.code], [400, "invalid_request"]);
  assertEquals(problem.errors[0].path, "format");
  assertStringIncludes(problem.detail, "junit");
});

Deno.test("an unknown run cannot be exported", async () => {
  const { service } = evalService();
  assertEquals((await service(get("/runs/none/export"))).status, 404);
});

Deno.test("a running run cannot be exported yet", async () => {
  const gate = Promise.withResolvers<void>();
  const target = { ask: () => gate.promise.then(() => ({ content: "", usage: null })) };
  const { service, runs } = evalService(undefined, { target });
  const started = await service(
    new Request("http://127.0.0.1:8080/evaluate", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async" },
      body: JSON.stringify(body),
    }),
  );
  const { run_id } = await started.json();
  const response = await service(get(`/runs/${run_id}/export`));
  assertEquals([response.status, (await response.json()).code], [409, "conflict"]);
  const active = runs.active(run_id);
  gate.resolve();
  await active?.ended;
});

const AT = ["--endpoint", "http://model.example/v1"];

/** Two runs of the same batch, by "old" and by "new", which answers as given. */
async function compared(
  answer: (question: string) => string,
  { file = batchFile(9), next = file, options = [], nextOptions = [] }: {
    file?: string;
    /** The questions to "new". */
    next?: string;
    options?: string[];
    nextOptions?: string[];
  } = {},
) {
  let isNew = false;
  const { run, files } = cliContext({
    files: { "b.jsonl": file, "next.jsonl": next },
    answer: (conversation) => isNew ? answer(conversation.at(-1)!.content) : "right",
  });
  await run("run", "b.jsonl", ...AT, "--model", "old", ...options);
  await run("tag", "latest", "old");
  isNew = true;
  const asNew = ["--model", "new", "--baseline", "tag:old", "--output", "r.md"];
  const reported = await run("run", "next.jsonl", ...AT, ...asNew, ...options, ...nextOptions);
  const { out } = await run("compare", "tag:old", "latest");
  return { out, reported: reported.out, comment: files["r.md"]! };
}

Deno.test("a comparison names both models, and shows how often and how fast they answered", async () => {
  const { out, reported, comment } = await compared((question) => {
    if (question === "question 5") throw providerError(500);
    return "right";
  });
  for (const text of [out, reported]) {
    assertMatch(text, /\nmodel +old +new\n/);
    assertMatch(text, /\nfailed calls +0 +1\n/);
    assertMatch(text, /\nmedian latency +\d+ ms +\d+ ms\n/);
    assert(!text.includes("cut off"), "only what one of them has");
  }
  assertStringIncludes(comment, "| model | `old` | `new` |\n");
});

Deno.test("a comparison quotes the replies that fell most, and no call that failed", async () => {
  const { out, comment } = await compared((question) => {
    if (question === "question 5") throw providerError(500);
    return question === "question 3" ? "wrong" : "right";
  });
  const [, fallen] = out.split("Replies that fell most\n\n");
  assertEquals(
    fallen,
    `  s3: overall 1.000 before, 0.000 now
    asked: question 3
    expected: right
    before: right
    now: wrong
    why: does not say what the reference says; similarity in meaning 0.00, needed 0.70
`,
  );
  assertStringIncludes(comment, "  - before: `right`\n  - now: `wrong`\n");
});

Deno.test("of several turns and attempts the one that fell most is quoted", async () => {
  const turns = ["first", "second"].map((id) => ({
    id,
    user_message: id,
    reference_reply: "right",
  }));
  let asked = 0;
  const { out } = await compared(
    (question) => question === "second" && asked++ > 0 ? "wrong" : "right",
    {
      file: JSON.stringify({ id: "talk", interactions: turns }),
      options: ["--attempts", "2", "--concurrency", "1"],
    },
  );
  assertStringIncludes(out, "  talk, turn 2, attempt 2: overall 1.000 before, 0.000 now\n");
});

Deno.test("without a reply that fell there is no such section", async () => {
  const { out } = await compared(() => "right");
  assert(!out.includes("Replies that fell most"), out);
});

Deno.test("a turn that is asked or expected otherwise than before is not quoted as a fall", async () => {
  const batch = (...turns: [question: string, reference: string][]) =>
    JSON.stringify({
      id: "talk",
      interactions: turns.map(([user_message, reference_reply], turn) => ({
        id: `t${turn}`,
        user_message,
        reference_reply,
      })),
    });
  const quoted = async (next: string, nextOptions: string[] = []) => {
    const file = batch(["a", "right"], ["b", "right"], ["c", "right"]);
    const answer = (question: string) => question === "c" ? "right, but no more" : "wrong";
    const { out } = await compared(answer, { file, next, nextOptions });
    return out.split("Replies that fell most\n\n")[1]?.split(":")[0]?.trim();
  };
  assertEquals(await quoted(batch(["a", "right"], ["b", "right"], ["c", "right"])), "talk, turn 1");
  assertEquals(await quoted(batch(["a", "left"], ["b", "right"], ["c", "right"])), "talk, turn 2");
  assertEquals(await quoted(batch(["a", "left"], ["B", "right"], ["c", "right"])), "talk, turn 3");
  assertEquals(await quoted(batch(["a", "left"], ["B", "right"], ["c", "left"])), undefined);
  const afterReferences = batch(["a", "left"], ["b", "right"], ["c", "right"]);
  assertEquals(await quoted(afterReferences, ["--history", "reference"]), undefined);
});
