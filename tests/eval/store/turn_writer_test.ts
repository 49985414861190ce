import { setImmediate, setTimeout } from "node:timers/promises";
import { assertEquals, assertRejects } from "@std/assert";
import { createTurnWriter } from "../../../eval/store/turn_writer.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";

/** A disk whose flushes end when the test says so. */
function slowDisk() {
  const flushes: { turns: number[]; finish: (error?: Error) => void }[] = [];
  return {
    flushes,
    writer: createTurnWriter((turns) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error) => error ? reject(error) : resolve(turns.map(() => true));
        flushes.push({ turns: turns.map(({ turn }) => turn), finish });
      })
    ),
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
