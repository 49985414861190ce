import { assertEquals } from "@std/assert";
import { createConnectionRoom } from "../../../shared/http/server/connection_room.ts";

const needs = {
  connections: 2500,
  outgoing: (requests: number) => Math.min(requests, 1000),
};
const NEEDED = 2500 + 1000 + 64 + 511;

/** A process that may open `free` more files. */
function createProcess(free: number) {
  const counts: number[] = [];
  const lowered: number[] = [];
  const room = createConnectionRoom(needs, {
    onLowered: (total) => lowered.push(total),
    count(upTo) {
      counts.push(upTo);
      return Math.min(free, upTo);
    },
  });
  return { room, counts, lowered };
}

Deno.test("a service with few clients counts only what these need", () => {
  const { room, counts, lowered } = createProcess(20_000);
  for (let open = 1; open <= 32; open++) room.expect(open);
  assertEquals(counts, [32 + 32 + 64 + 511]);
  assertEquals([room.total, room.backlog], [2500, 511]);
  assertEquals(lowered, []);
});

Deno.test("everything is counted once when there are more clients", () => {
  const { room, counts, lowered } = createProcess(20_000);
  for (let open = 31; open <= 100; open++) room.expect(open);
  assertEquals(counts.slice(1), [NEEDED - 33]);
  assertEquals(room.total, 2500);
  assertEquals(lowered, []);
});

Deno.test("a process that may open few files knows it from the start", () => {
  const { room, counts, lowered } = createProcess(400);
  assertEquals(lowered, [room.total]);
  room.expect(33);
  assertEquals(counts.length, 1);
  assertEquals([room.total, room.backlog], [143, 50]);
});

Deno.test("a process that may open too few for all lowers its limit when it has more clients", () => {
  const { room, lowered } = createProcess(1000);
  assertEquals(room.total, 2500);
  room.expect(33);
  // The queue keeps its length: it was set when the port was opened.
  const shared = 1000 + 33 - 64 - 511;
  assertEquals([room.total, room.backlog], [Math.floor(shared / 2), 511]);
  assertEquals(lowered, [room.total]);
});

Deno.test("where descriptors cannot be counted, all wanted connections are accepted", () => {
  const room = createConnectionRoom(needs, {
    onLowered: () => {
      throw new Error("nothing is known");
    },
    count: () => undefined,
  });
  room.expect(33);
  assertEquals([room.total, room.backlog], [2500, 511]);
});
