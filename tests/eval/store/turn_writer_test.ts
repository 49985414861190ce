import { setImmediate, setTimeout } from "node:timers/promises";
import { assertEquals, assertRejects } from "@std/assert";
import { createTurnWriter } from "../../../eval/store/turns/turn_writer.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

/** A disk whose flushes end when the test says so. */
function slowDisk({ intervalMs = 0 } = {}) {
  const flushes: { turns: number[]; finish: (error?: Error) => void }[] = [];
  return {
    flushes,
    writer: createTurnWriter((turns) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error) => error ? reject(error) : resolve(turns.map(() => true));
        flushes.push({ turns: turns.map(({ turn }) => turn), finish });
      }), { intervalMs }),
  };
}

/** Runs everything that does not wait for the disk. */
async function settle(): Promise<void> {
  await setTimeout(0);
  await setImmediate();
}

Deno.test("turns that finish together share a commit, and those that finish during it share the next", async () => {
  const { flushes, writer } = slowDisk();
  const write = (turn: number) => writer.write("run", storedTurn([0, 0, turn]));
  const writes = [0, 1].map(write);
  await settle();
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1]]);
  writes.push(write(2));
  await settle();
  writes.push(write(3));
  await settle();
  assertEquals(flushes.length, 1, "a commit was begun while another was under way");
  flushes[0]!.finish();
  await settle();
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1], [2, 3]]);
  flushes[1]!.finish();
  await Promise.all(writes);
});

Deno.test("a write does not resolve before the commit of its turn is done", async () => {
  const { flushes, writer } = slowDisk();
  const acknowledged: number[] = [];
  for (const turn of [0, 1]) {
    writer.write("run", storedTurn([0, 0, turn])).then(() => acknowledged.push(turn));
    await settle();
  }
  assertEquals(acknowledged, []);
  flushes[0]!.finish();
  await settle();
  assertEquals(acknowledged, [0]);
  flushes[1]!.finish();
  await settle();
  assertEquals(acknowledged, [0, 1]);
});

Deno.test("a commit that fails rejects its own turns only", async () => {
  const { flushes, writer } = slowDisk();
  const first = assertRejects(() => writer.write("run", storedTurn([0, 0, 0])), Error, "no room");
  await settle();
  flushes[0]!.finish(new Error("no room"));
  await first;
  const second = writer.write("run", storedTurn([0, 0, 1]));
  await settle();
  flushes[1]!.finish();
  await second;
});

Deno.test("after a commit of several turns the next waits until there are enough of them", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 60_000 });
  const write = (turn: number) => writer.write("run", storedTurn([0, 0, turn]));
  const writes = [0, 1].map(write);
  await settle();
  flushes[0]!.finish();
  await Promise.all(writes);
  writes.push(...[2, 3, 4, 5, 6, 7, 8].map(write));
  await settle();
  assertEquals(flushes.length, 1, "a commit was begun with seven turns");
  writes.push(write(9));
  await settle();
  assertEquals(flushes[1]?.turns, [2, 3, 4, 5, 6, 7, 8, 9]);
  flushes[1]!.finish();
  await Promise.all(writes);
});

Deno.test("if there are never enough of them, they are committed after a moment", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 5 });
  const write = async (turn: number) => {
    const written = writer.write("run", storedTurn([0, 0, turn]));
    await until(() => flushes.some(({ turns }) => turns.includes(turn)));
    flushes.at(-1)!.finish();
    await written;
  };
  await Promise.all([0, 1].map(write));
  await write(2);
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1], [2]]);
});

Deno.test("turns that come one at a time never wait for others", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 60_000 });
  for (const turn of [0, 1, 2]) {
    const written = writer.write("run", storedTurn([0, 0, turn]));
    await settle();
    flushes[turn]!.finish();
    await written;
  }
  assertEquals(flushes.map(({ turns }) => turns), [[0], [1], [2]]);
});
