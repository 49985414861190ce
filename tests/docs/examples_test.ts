import { assertEquals } from "@std/assert";
import { parseMcpConfig } from "../../agent/mcp/config.ts";
import { readBatch } from "../../eval/cli/batch.ts";
import { evaluateRequest } from "../../eval/test/evaluate_request.ts";
import { notesOf } from "../../.ci/release_notes.ts";

const readExample = (name: string) =>
  Deno.readTextFileSync(new URL(`../../docs/examples/${name}`, import.meta.url));

Deno.test("the example batch is one that the command line takes", async () => {
  const file = { text: readExample("support.jsonl"), name: "support.jsonl" };
  const { body } = await readBatch(file);
  const asked = { endpoint: "http://127.0.0.1:9/v1", model_id: "m" };
  const { test_batch } = evaluateRequest(1).parse({ ...body, ...asked });
  assertEquals(test_batch.map(({ interactions }) => interactions.length), [2, 2, 1, 1]);
});

Deno.test("the example request is one that the service takes", () => {
  const request = evaluateRequest(10).parse(JSON.parse(readExample("batch.json")));
  assertEquals(request.test_batch.length, 1);
});

Deno.test("the example mcp.json is one that the agent takes", () => {
  const { servers } = parseMcpConfig(readExample("mcp.json"));
  assertEquals(servers.map(({ name, transport }) => [name, transport]), [
    ["files", "stdio"],
    ["tickets", "http"],
  ]);
});

Deno.test("a release's notes are its own section of the changelog", () => {
  const changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n" +
    "- Two.\n\n## [0.1.0] - 2026-11-01\n\n- One.\n";
  assertEquals(notesOf(changelog, "0.2.0"), "### Added\n\n- Two.");
  assertEquals(notesOf(changelog, "0.1.0"), "- One.");
  assertEquals(notesOf(changelog, "Unreleased"), undefined);
  assertEquals(notesOf(changelog, "0.3.0"), undefined);
});

Deno.test("the released version has notes", async () => {
  const { version } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const changelog = await Deno.readTextFile(new URL("../../CHANGELOG.md", import.meta.url));
  assertEquals(typeof notesOf(changelog, version), "string");
});
