import { assertEquals } from "@std/assert";
import { giveKey, keyHeaders, keyRequest, requireKey } from "../../../shared/pages/key.ts";

Deno.test("a refusal that arrives after the key was given does not ask for it again", async () => {
  const first = requireKey({});
  assertEquals(keyRequest.value, { isRefused: false });
  giveKey(" right ");
  await first;
  await requireKey({}); // sent before, refused now
  assertEquals(keyRequest.value, undefined);

  const second = requireKey(keyHeaders());
  assertEquals(keyRequest.value, { isRefused: true });
  giveKey("better");
  await second;
  await requireKey({ "x-api-key": "right" });
  assertEquals(keyRequest.value, undefined);
});
