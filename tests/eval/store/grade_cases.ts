import { assertEquals } from "@std/assert";
import type { RunStore } from "../../../eval/store/store.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, type StoreCase } from "./store_case.ts";

const grade = (
  value: number,
  more: { author?: string; label?: string; comment?: string } = {},
) => ({
  value,
  author: "",
  label: null,
  comment: null,
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
  "grades of several authors are read in the order of the batch, the latest of each": async (
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
      ...{ scenario: 0, attempt: 0, turn: 0, author: "ben", value: 0.4, version: 2 },
      ...{ label: null, comment: null, createdAt: clock.now },
    });
    const found = await Array.fromAsync(store.grades(id));
    assertEquals(
      found.map((
        { scenario, attempt, author, value, version },
      ) => [scenario, attempt, author, value, version]),
      [[0, 0, "ann", 0.9, 1], [0, 0, "ben", 0.4, 2], [0, 1, "", 0.5, 1], [1, 0, "ben", 0.1, 1]],
    );
    const rest = await Array.fromAsync(store.grades(id, found[1]));
    assertEquals(rest, found.slice(2));
  },

  "every version of a grade is kept, and the same grade again changes nothing": async (
    store,
    clock,
  ) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    await store.saveGrade(id, position, grade(0.2, { author: "ann" }));
    clock.now += 1;
    await store.saveGrade(id, position, grade(0.7, { author: "ann", label: "good" }));
    clock.now += 1;
    const same = await store.saveGrade(
      id,
      position,
      grade(0.7, { author: "ann", label: "good" }),
    );
    assertEquals([same!.version, same!.createdAt], [2, clock.now - 1]);
    const history = await store.gradeHistory(id, position);
    assertEquals(history.map(({ value, version }) => [value, version]), [[0.2, 1], [0.7, 2]]);
  },

  "a grade is withdrawn by its author alone, its history stays, and it can be given again": async (
    store,
    clock,
  ) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    const ann = { ...position, author: "ann" };
    assertEquals(await store.withdrawGrade(id, ann), undefined);
    await store.saveGrade(id, position, grade(0.2, { author: "ann", label: "rude" }));
    await store.saveGrade(id, position, grade(0.9));
    clock.now += 1;
    assertEquals(await store.withdrawGrade(id, ann), {
      ...{ ...ann, value: 0.2, label: "rude", comment: null, version: 2 },
      ...{ createdAt: clock.now, withdrawn: true },
    });
    assertEquals(await store.withdrawGrade(id, ann), undefined);
    const authors = async () =>
      (await Array.fromAsync(store.grades(id))).map(({ author, value }) => [author, value]);
    assertEquals(await authors(), [["", 0.9]]);
    clock.now += 1;
    await store.saveGrade(id, position, grade(0.2, { author: "ann", label: "rude" }));
    assertEquals(await authors(), [["", 0.9], ["ann", 0.2]]);
    const history = (await store.gradeHistory(id, position)).filter(({ author }) => author);
    assertEquals(history.map(({ version, withdrawn }) => [version, withdrawn]), [
      [1, undefined],
      [2, true],
      [3, undefined],
    ]);
  },

  "a turn that is not stored cannot be graded": async (store) => {
    const id = await start(store);
    const none = { scenario: 5, attempt: 0, turn: 0 };
    assertEquals(await store.saveGrade(id, none, grade(1)), undefined);
    const first = { scenario: 0, attempt: 0, turn: 0 };
    assertEquals(await store.saveGrade("none", first, grade(1)), undefined);
    assertEquals(await Array.fromAsync(store.grades(id)), []);
  },

  "writers at the same moment lose no grade": async (store) => {
    const id = await start(store);
    const position = { scenario: 0, attempt: 0, turn: 0 };
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.saveGrade(id, position, grade(index / 10))),
    );
    const history = await store.gradeHistory(id, position);
    assertEquals(history.map(({ version }) => version).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
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
    assertEquals(await store.gradeHistory(id, position), []);
  },
};
