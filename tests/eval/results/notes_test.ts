import { assertEquals, assertStringIncludes } from "@std/assert";
import { runNotes } from "../../../eval/results/notes.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";

const bare = interaction("1", { reference_reply: "Yes." });
const labelled = interaction("2", {
  reference_reply: "No.",
  reference_metadata: { intent: "refusal" },
});
const free = interaction("3"); // without a reference nothing is compared
const notes = (turns: typeof bare[], hasJudge = false) =>
  runNotes({ test_batch: [scenario("s", turns)] }, { hasJudge });

Deno.test("a run with neither judge nor labels has a note that similarity alone decides", () => {
  const [note, ...others] = notes([bare, free]);
  assertEquals([note?.code, others], ["similarity_alone", []]);
  assertStringIncludes(note!.detail, "overall of every turn is semantic_similarity alone");
  assertStringIncludes(note!.detail, "no negation");
});

Deno.test("a run that asks an agent has a note that system prompts were not sent", () => {
  const own = { ...scenario("s", [free]), system_prompt: "Be brief." };
  const test_batch = [own, scenario("t", [free])];
  const [note] = runNotes({ test_batch, protocol: "agent" }, { hasJudge: true });
  assertEquals(note?.code, "system_prompts_not_sent");
  assertStringIncludes(note!.detail, "1 of 2 scenarios");
  assertEquals(runNotes({ test_batch, protocol: "openai" }, { hasJudge: true }), []);
});

Deno.test("only the turns without labels are counted", () => {
  assertStringIncludes(notes([bare, labelled, free])[0]!.detail, "1 of 2 turns");
});

Deno.test("a judge, labels on every turn or no reference at all need no note", () => {
  assertEquals(notes([bare], true), []);
  assertEquals(notes([labelled, free]), []);
  assertEquals(notes([free]), []);
  assertEquals(notes([interaction("4", { reference_reply: "" })]), []);
});
