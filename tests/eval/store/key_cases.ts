import { assert, assertEquals } from "@std/assert";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { type StoreCase } from "./store_case.ts";

const DAY = 24 * 60 * 60 * 1000;

/** What every kind of store does with idempotency keys. */
export const keyCases: Record<string, StoreCase> = {
  "the same key and body return the same run, a different body is a mismatch": async (store) => {
    const request = evaluateRequest();
    const create = (bodyHash: string) =>
      store.createRun({ request, testName: "t", idempotency: { caller: "", key: "k", bodyHash } });
    const [first, again] = await Promise.all([create("one"), create("one")]);
    assertEquals([first.outcome, again.outcome].toSorted(), ["created", "known"]);
    assertEquals(again.id, first.id);
    assertEquals((await create("two")).outcome, "mismatch");
    assertEquals((await store.listRuns({ limit: 10 })).runs.length, 1);
  },

  "a key can be used again after 24 hours, or once its run is deleted": async (store, clock) => {
    const request = evaluateRequest();
    const create = () =>
      store.createRun({
        request,
        testName: "t",
        idempotency: { caller: "", key: "k", bodyHash: "h" },
      });
    const first = await create();
    clock.now += DAY - 1;
    assertEquals((await create()).outcome, "known");
    clock.now += 1;
    const second = await create();
    assertEquals(second.outcome, "created");
    assert(second.id !== first.id);
    await store.deleteRun(second.id);
    assertEquals((await create()).outcome, "created");
  },

  "a key belongs to its caller": async (store) => {
    const request = evaluateRequest();
    const create = async (caller: string, key: string) =>
      await store.createRun({
        request,
        testName: "t",
        idempotency: { caller, key, bodyHash: "h" },
      });
    const [a, b] = [await create("a", "k"), await create("b", "k")];
    assertEquals([a.outcome, b.outcome], ["created", "created"]);
    assertEquals(await create("a", "k"), { outcome: "known", id: a.id });
    const find = (caller: string, key: string) => store.findByKey({ caller, key, bodyHash: "h" });
    assertEquals(await find("b", "k"), { outcome: "known", id: b.id });
    assertEquals(await find("c", "k"), undefined);
  },
};
