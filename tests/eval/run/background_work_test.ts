import { assertEquals } from "@std/assert";
import { createBackgroundWork } from "../../../eval/run/manager/background_work.ts";

Deno.test("between two long pieces the event loop runs", async () => {
  const background = createBackgroundWork(2);
  const seen: string[] = [];
  const takeLong = (name: string) => () => {
    seen.push(name);
    const until = performance.now() + 15;
    while (performance.now() < until); // as a long reply does
    return new Promise<void>((resolve) =>
      setTimeout(() => {
        seen.push(`timer of ${name}`);
        resolve();
      })
    );
  };
  await Promise.all([background.begin(takeLong("one")), background.begin(takeLong("two"))]);
  await background.end();
  assertEquals(seen, ["one", "timer of one", "two", "timer of two"]);
});
