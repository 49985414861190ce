import { assertEquals } from "@std/assert";
import { matchPath } from "../../../shared/pages/location.ts";

Deno.test("a path is matched by its parts, and its parameters are decoded", () => {
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/r%20-1"), { id: "r -1" });
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/a%2Fb"), { id: "a/b" });
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/1/2"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/%E0%A4%A"), undefined);
  assertEquals(matchPath("/", "/"), {});
});
