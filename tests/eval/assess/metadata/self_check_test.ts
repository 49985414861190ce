import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { LabelExample } from "../../../../eval/assess/metadata/annotator.ts";
import {
  checkAnnotator,
  failsCheck,
  spreadSample,
} from "../../../../eval/assess/metadata/self_check.ts";
import { interaction } from "../../../fakes/eval_ports.ts";

const examples = (...labels: string[]): LabelExample[] =>
  labels.map((label, at) => ({ label, text: `text ${at}`, interaction: interaction(`${at}`) }));

const saying = (...found: unknown[]) => ({ relabel: () => Promise.resolve(found.shift()) });

Deno.test("the check counts the references that are labelled right", async () => {
  const check = await checkAnnotator(saying("A", "b", undefined, "a "), {
    examples: examples("a", "a", "b", "a"),
    labels: 2,
  });
  assertEquals([check.right, check.of, check.accuracy], [2, 4, 0.5]);
});

Deno.test("the floor lies halfway between the most frequent label and being always right", async () => {
  const floor = async (labels: number, ...of: string[]) =>
    (await checkAnnotator(saying(), { examples: examples(...of), labels })).floor;
  assertEquals(await floor(2, "a", "b"), 0.75);
  assertEquals(await floor(4, "a", "b", "c", "d"), 0.625);
  assertAlmostEquals(await floor(2, ..."aaaaaaaaab"), 0.95, 1e-12);
  // With one label in the references to be always right means nothing: as many as could be said.
  assertEquals(await floor(4, "a", "a"), 0.625);
});

Deno.test("a key fails only if chance cannot explain that so few are right", () => {
  const fails = (right: number, of: number, floor: number) =>
    failsCheck({ right, of, accuracy: right / of, floor });
  assert(!fails(2, 4, 0.75));
  assert(fails(0, 4, 0.75));
  assert(!fails(6, 10, 0.75));
  assert(fails(20, 40, 0.75));
  assert(!fails(28, 40, 0.75));
  assert(fails(60, 100, 0.75));
  assert(!failsCheck({ right: 0, of: 0, accuracy: null, floor: 0.75 }));
});

Deno.test("without references there is nothing to check with", async () => {
  const check = await checkAnnotator(saying(), { examples: [], labels: 2 });
  assertEquals(check, { right: 0, of: 0, accuracy: null, floor: 0.75 });
});

Deno.test("a sample is spread over all items, and the same each time", () => {
  assertEquals(spreadSample([1, 2, 3], 5), [1, 2, 3]);
  assertEquals(spreadSample([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 5), [0, 2, 4, 6, 8]);
});
