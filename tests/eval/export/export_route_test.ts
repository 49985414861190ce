import { assertEquals, assertStringIncludes } from "@std/assert";
import { exportFormats } from "../../../eval/export/export_formats.ts";
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

const types: Record<string, string> = {
  json: "application/json",
  jsonl: "application/jsonl",
  csv: "text/csv; charset=utf-8; header=present",
  junit: "application/xml; charset=utf-8",
  markdown: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
};

for (const { name, extension } of exportFormats) {
  Deno.test(`a finished run is exported as ${name}, a file of its own type`, async () => {
    const { service } = evalService();
    const { run_id } = await evaluateWith(service, body);
    const response = await service(get(`/runs/${run_id}/export?format=${name}`));
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), types[name]);
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
