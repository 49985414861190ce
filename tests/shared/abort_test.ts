import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { abortError, untilAbort } from "../../shared/abort.ts";
import { isAbort } from "../../shared/errors.ts";

Deno.test("leaving is an AbortError: the caller's own reason if it is one", () => {
  const own = new DOMException("gone", "AbortError");
  assertStrictEquals(abortError(AbortSignal.abort(own)), own);
  for (const reason of [undefined, "text", new Error("x"), new DOMException("x", "TimeoutError")]) {
    assert(isAbort(abortError(AbortSignal.abort(reason))));
  }
  assert(isAbort(abortError()));
});

Deno.test("a caller that leaves does not wait for work that ignores the signal", async () => {
  const never = new Promise<never>(() => {});
  const caller = new AbortController();
  const waiting = untilAbort(never, caller.signal);
  caller.abort("bored");
  assert(isAbort(await assertRejects(() => waiting)));
  assert(isAbort(await assertRejects(() => untilAbort(never, AbortSignal.abort()))));
});

Deno.test("a caller that stays gets the result of the work", async () => {
  const { signal } = new AbortController();
  assertEquals(await untilAbort(Promise.resolve(1), signal), 1);
  assertEquals(await untilAbort(Promise.resolve(2), undefined), 2);
  await assertRejects(() => untilAbort(Promise.reject(new Error("fault")), signal), Error, "fault");
});
