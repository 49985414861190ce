import { assertEquals } from "@std/assert";
import { datasetLink, parseEvalAddress } from "../../../agent/pages/save_test/dataset_link.ts";

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
