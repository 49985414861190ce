import { assertEquals } from "@std/assert";
import { renderTable } from "../../../eval/cli/report/table.ts";

Deno.test("names are aligned to the left, numbers to the right", () => {
  assertEquals(
    renderTable(["score", "mean"], [["overall", "0.5"], ["f1", "12.25"]]),
    `score     mean
-------  -----
overall    0.5
f1       12.25
`,
  );
});

Deno.test("wide characters take two places", () => {
  assertEquals(
    renderTable(["s", "n"], [["你好", "1"], ["ab", "2"]]),
    "s     n\n----  -\n你好  1\nab    2\n",
  );
});

Deno.test("a name cannot write to the terminal or over other lines", () => {
  assertEquals(
    renderTable(["s"], [["\x1b[2Jgone\nnext\u202e"]]),
    "s\n------------\n[2Jgone next\n",
  );
});

Deno.test("a table may have more rows than a call may have arguments", () => {
  const rows = Array.from({ length: 200_000 }, () => ["score", "1"]);
  assertEquals(renderTable(["name", "mean"], rows).split("\n").length, 200_003);
});
