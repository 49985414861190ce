import { assertEquals } from "@std/assert";
import { type Parameters, setSource, type Source } from "../../../eval/pages/source.ts";
import { findNeighbour } from "../../../eval/pages/run/turn/turn_walk.ts";

/** A run whose failing turns are the first ones of these scenarios, a page each. */
function showFailing(scenarios: number[]): void {
  const turns = (_id: string, { cursor }: Parameters) => {
    const at = Number(cursor ?? 0);
    const shown = scenarios.slice(at, at + 1);
    return Promise.resolve({
      turns: shown.map((scenario) => ({ scenario, attempt_id: 1, turn: 0 })),
      next_cursor: at + 1 < scenarios.length ? String(at + 1) : null,
    });
  };
  setSource({ turns } as unknown as Source);
}

const walk = (from: string, step: 1 | -1) => findNeighbour("r", { from, step, parameters: {} });

Deno.test("from a turn that passes, the next failing turn is the first, the previous the last", async () => {
  showFailing([3, 5, 8]);
  assertEquals(await walk("5/1/0", 1), "8/1/0");
  assertEquals(await walk("5/1/0", -1), "3/1/0");
  assertEquals(await walk("3/1/0", -1), undefined);
  assertEquals(await walk("8/1/0", 1), undefined);
  assertEquals(await walk("1/1/0", 1), "3/1/0");
  assertEquals(await walk("1/1/0", -1), "8/1/0");
  showFailing([]);
  assertEquals(await walk("1/1/0", -1), undefined);
});
