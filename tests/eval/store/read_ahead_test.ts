import { assertEquals, assertRejects } from "@std/assert";
import { readAhead } from "../../../eval/store/runs/run_reader.ts";

/** The numbers from 1, and a record of every request. */
function watchedNumbers({ until = 3, failAt = Infinity } = {}) {
  const notes: string[] = [];
  async function* numbers() {
    try {
      for (let n = 1; n <= until; n++) {
        notes.push(`ask ${n}`);
        await Promise.resolve();
        if (n === failAt) throw new Error("the page is torn");
        yield n;
      }
    } finally {
      notes.push("end");
    }
  }
  return { notes, ahead: readAhead(numbers()) };
}

Deno.test("the next item is requested while one is being used, and no more than one", async () => {
  const { notes, ahead } = watchedNumbers();
  for await (const n of ahead) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    notes.push(`use ${n}`);
  }
  assertEquals(notes, ["ask 1", "ask 2", "use 1", "ask 3", "use 2", "end", "use 3"]);
});

Deno.test("a consumer that stops early ends the reading, also if the buffered item is an error", async () => {
  const { notes, ahead } = watchedNumbers({ failAt: 2 });
  for await (const n of ahead) {
    await new Promise((resolve) => setTimeout(resolve, 0)); // an unhandled rejection would end us
    assertEquals(n, 1);
    break;
  }
  assertEquals(notes, ["ask 1", "ask 2", "end"]);
});

Deno.test("an error is thrown after the items before it", async () => {
  const { ahead } = watchedNumbers({ failAt: 2 });
  assertEquals(await ahead.next(), { done: false, value: 1 });
  await assertRejects(() => ahead.next(), Error, "the page is torn");
});
