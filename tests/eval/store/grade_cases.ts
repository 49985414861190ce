import { assert, assertEquals } from "@std/assert";
import type { RunStore } from "../../../eval/store/store.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

const grade = (
  value: number,
  more: { author?: string; label?: string; comment?: string; correctedReply?: string } = {},
) => ({
  value,
  author: "",
  label: null,
  comment: null,
  correctedReply: null,
  ...more,
});

/** A run with three stored turns. */
async function start(store: RunStore): Promise<string> {
  const id = await newRun(store);
  for (const [scenario, attempt] of [[0, 0], [0, 1], [1, 0]] as const) {
    await store.recordTurn(id, storedTurn([scenario, attempt, 0]));
  }
  return id;
}

/** What every store does with grades. */
export const gradeCases: Record<string, StoreCase> = {
  "grades of several authors are read in the order of the batch, and a new one replaces the old":
    async (
      store,
      clock,
    ) => {
      const id = await start(store);
      const save = (position: [number, number], value: ReturnType<typeof grade>) =>
        store.saveGrade(id, { scenario: position[0], attempt: position[1], turn: 0 }, value);
      await save([1, 0], grade(0.1, { author: "ben" }));
      await save([0, 1], grade(0.5));
      await save([0, 0], grade(0.3, { author: "ben", label: "rude", comment: "no\nhello" }));
      await save([0, 0], grade(0.9, { author: "ann" }));
      clock.now += 1000;
      const again = await save([0, 0], grade(0.4, { author: "ben" }));
      assertEquals(again, {
        ...{ scenario: 0, attempt: 0, turn: 0, author: "ben", value: 0.4 },
        ...{ label: null, comment: null, correctedReply: null, createdAt: clock.now },
      });
      const found = await Array.fromAsync(store.grades(id));
      assertEquals(
        found.map(({ scenario, attempt, author, value }) => [scenario, attempt, author, value]),
        [[0, 0, "ann", 0.9], [0, 0, "ben", 0.4], [0, 1, "", 0.5], [1, 0, "ben", 0.1]],
      );
      const rest = await Array.fromAsync(store.grades(id, found[1]));
      assertEquals(rest, found.slice(2));
      const first = { scenario: 0, attempt: 0, turn: 0 };
      assertEquals(await store.turnGrades(id, first), found.slice(0, 2));
    },

  "a grade is deleted by its author alone, and can be given again": async (store) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    const ann = { ...position, author: "ann" };
    assertEquals(await store.deleteGrade(id, ann), undefined);
    const said = grade(0.2, { author: "ann", label: "rude", correctedReply: "Hello." });
    const saved = await store.saveGrade(id, position, said);
    await store.saveGrade(id, position, grade(0.9));
    assertEquals(await store.deleteGrade(id, ann), saved);
    assertEquals(await store.deleteGrade(id, ann), undefined);
    const authors = async () =>
      (await Array.fromAsync(store.grades(id))).map(({ author, value }) => [author, value]);
    assertEquals(await authors(), [["", 0.9]]);
    await store.saveGrade(id, position, said);
    assertEquals(await authors(), [["", 0.9], ["ann", 0.2]]);
  },

  "a turn that is not stored cannot be graded": async (store) => {
    const id = await start(store);
    const none = { scenario: 5, attempt: 0, turn: 0 };
    assertEquals(await store.saveGrade(id, none, grade(1)), undefined);
    const first = { scenario: 0, attempt: 0, turn: 0 };
    assertEquals(await store.saveGrade("none", first, grade(1)), undefined);
    assertEquals(await Array.fromAsync(store.grades(id)), []);
  },

  "writers at the same moment leave one grade of each author": async (store) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    const saved = await Promise.all(
      ["ann", "ben", "ann", "ben"].map((author, index) =>
        store.saveGrade(id, position, grade(index / 10, { author }))
      ),
    );
    const found = await store.turnGrades(id, position);
    assertEquals(found.map(({ author }) => author), ["ann", "ben"]);
    for (const { author, value } of found) {
      assert(saved.some((one) => one?.author === author && one.value === value));
    }
  },

  "more grades than a page holds are all read": async (store) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    for (let author = 0; author < 201; author++) {
      await store.saveGrade(id, position, grade(0.5, { author: `a${1000 + author}` }));
    }
    const found = await Array.fromAsync(store.grades(id));
    assertEquals([found.length, found.at(-1)!.author], [201, "a1200"]);
  },

  "grades are deleted with their run": async (store) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    await store.saveGrade(id, position, grade(1));
    await store.deleteRun(id);
    assertEquals(await Array.fromAsync(store.grades(id)), []);
    assertEquals(await store.turnGrades(id, position), []);
  },
};
