import { assertEquals } from "@std/assert";
import { explainPermission } from "../../../agent/mcp/permission_help.ts";

Deno.test("a missing permission is given at the start, or to a binary when it is built", () => {
  assertEquals(
    [false, true].map((isBinary) => explainPermission("--allow-run=npx", isBinary)),
    [
      "start with: DENO_FLAGS=--allow-run=npx deno task agent",
      "build with: deno task compile --allow-run=npx",
    ],
  );
});
