import { assertEquals } from "@std/assert";
import { createBatchDraft } from "../../../eval/pages/batch/batch_draft.ts";
import { countTicks } from "../../../eval/pages/charts/histogram.tsx";
import { freeId } from "../../../eval/pages/datasets/dataset_content.ts";
import { readScenario, withNewTurn } from "../../../eval/pages/datasets/scenario_editor.tsx";
import { toUpload } from "../../../eval/pages/datasets/upload.ts";

Deno.test("an id that is taken gets the next free number", () => {
  assertEquals(freeId("a", new Set()), "a");
  assertEquals(freeId("a", new Set(["a", "a-2", "b"])), "a-3");
});

Deno.test("a turn that is added after another was removed has an id of its own", () => {
  const turns = ["2", "3"].map((id) => ({ id, user_message: "Hi" }));
  assertEquals(withNewTurn(turns).map(({ id }) => id), ["2", "3", "3-2"]);
  assertEquals(withNewTurn(turns.slice(0, 1)).map(({ id }) => id), ["2", "2-2"]);
  assertEquals(withNewTurn([{ id: "1", user_message: "Hi" }]).at(-1)!.id, "2");
});

Deno.test("one scenario is read from JSON, and anything else is refused with the reason", () => {
  const scenario = { id: "a", interactions: [{ id: "1", user_message: "Hi", more: [1] }] };
  assertEquals(readScenario(JSON.stringify(scenario)), { scenario });
  for (
    const wrong of [
      "null",
      "[]",
      '{"id":1,"interactions":[]}',
      '{"id":"a","interactions":[]}',
      '{"id":"a","interactions":[{"id":"1"}]}',
      '{"id":"a","interactions":[{"id":"1","user_message":"x","reference_reply":2}]}',
      '{"id":"a","description":[],"interactions":[{"id":"1","user_message":"x"}]}',
      "nonsense",
    ]
  ) {
    assertEquals("reason" in readScenario(wrong), true, wrong);
  }
});

Deno.test("a table is sent as the scenarios that were shown, other texts as they are", () => {
  const draft = createBatchDraft();
  draft.setText("question;answer;intent\nHi;Hello;greeting");
  const { file, parameters } = toUpload(draft, { file: undefined, format: undefined });
  assertEquals(parameters, { format: "jsonl" });
  assertEquals(JSON.parse(file.content as string), {
    id: "1",
    interactions: [{
      id: "1",
      user_message: "Hi",
      reference_reply: "Hello",
      reference_metadata: { intent: "greeting" },
    }],
  });
  assertEquals(
    toUpload(draft, { file: undefined, format: "langsmith" }),
    {
      file: { content: draft.text.value, type: "application/octet-stream" },
      parameters: { format: "langsmith" },
    },
  );
});

Deno.test("of a large table the columns are named", () => {
  const draft = createBatchDraft();
  draft.setText(
    "conversation,system_prompt,question,answer,intent,other\n1,Be brief.,Hi,Hello,greeting,x\n",
  );
  const file = new File([draft.text.value], "large.csv");
  assertEquals(toUpload(draft, { file, format: undefined }).parameters, {
    format: undefined,
    "column.scenario_id": "conversation",
    "column.system_prompt": "system_prompt",
    "column.user_message": "question",
    "column.reference_reply": "answer",
    "column.metadata.intent": "intent",
  });
});

Deno.test("the marks beside counts are whole numbers, few, and reach the highest", () => {
  assertEquals(countTicks(1), [0, 1]);
  assertEquals(countTicks(5), [0, 2, 4, 6]);
  assertEquals(countTicks(8), [0, 2, 4, 6, 8]);
  assertEquals(countTicks(47), [0, 20, 40, 60]);
  for (let highest = 1; highest < 3_000; highest += 7) {
    const ticks = countTicks(highest);
    assertEquals(ticks.every(Number.isInteger) && ticks.length <= 5, true, String(highest));
    assertEquals(ticks.at(-1)! >= highest && ticks.at(-2)! < highest, true, String(highest));
  }
});
