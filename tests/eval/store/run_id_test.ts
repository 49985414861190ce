import { assert, assertEquals } from "@std/assert";
import { validate } from "@std/uuid/common";
import { createRunIds } from "../../../eval/store/runs/run_id.ts";

Deno.test("ids sort in the order of their creation, whatever the clock does", () => {
  let moment = 1_700_000_000_000;
  const newId = createRunIds(() => moment);
  const ids: string[] = [];
  for (let n = 0; n < 10_000; n++) {
    if (n === 6_000) moment += 5;
    if (n === 8_000) moment -= 60_000;
    ids.push(newId());
  }
  assertEquals([...ids].sort(), ids);
  assertEquals(new Set(ids).size, ids.length);
  assert(ids.every(validate));
  assert(ids.every((id) => id[14] === "7"));
});
