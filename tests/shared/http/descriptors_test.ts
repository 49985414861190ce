import { assert, assertEquals } from "@std/assert";
import {
  countFreeDescriptors,
  descriptorsFor,
  planConnections,
  RESERVED_DESCRIPTORS,
} from "../../../shared/http/server/descriptors.ts";

Deno.test("connections, their queue and outgoing ones together never need more files than there are", () => {
  const needs = { connections: 2500, outgoing: () => 1000 };
  for (const free of [200, 256, 1000, 4000, 20_000]) {
    const { total, backlog } = planConnections(needs, free);
    const outgoing = Math.min(1000, total);
    assert(total + backlog + outgoing + RESERVED_DESCRIPTORS <= free, `${free} files`);
  }
  const wanted = { total: 2500, backlog: 511 };
  assertEquals(planConnections(needs, descriptorsFor(needs)), wanted);
  assertEquals(planConnections(needs, undefined), wanted);
});

Deno.test("counting descriptors stops at the number asked for, and closes them again", () => {
  assertEquals(countFreeDescriptors(50), 50);
  assertEquals(countFreeDescriptors(50), 50);
});
