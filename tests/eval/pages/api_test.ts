import { assertEquals } from "@std/assert";
import { turnPath } from "../../../eval/pages/api.ts";

Deno.test("a link to a turn cannot lead the dashboard to another route", () => {
  assertEquals(turnPath("r-1", "0/12/3"), "/runs/r-1/turns/0/12/3");
  const links = ["../../../models?endpoint=http://evil.example", "0/1/0?x", "0/1/../0", "..", "0"];
  for (const place of links) assertEquals(turnPath("r-1", place), "/runs/r-1/turns/none", place);
});
