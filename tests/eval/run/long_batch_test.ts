import { assertEquals, assertRejects } from "@std/assert";
import { checkLongBatch } from "../../../eval/api/long_batch.ts";
import { AppError } from "../../../shared/errors.ts";
import { checkBody } from "../../../shared/http/body/body.ts";
import { batchPath, evaluateRequest } from "../../../eval/schemas/evaluate_request.ts";
import { evaluateBody } from "../../fakes/eval_service.ts";

const schema = evaluateRequest(10);

const turn = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  user_message: "Hi",
  ...more,
});
const scenario = {
  team: "blue",
  id: "s",
  interactions: [
    turn("1", { checks: [{ type: "similar" }], note: [1] }),
    turn("2", { reference_tools: [] }),
  ],
  checks: [{ type: "contains", value: "x" }],
};

Deno.test("a long batch is read as a short one, as a list and as one scenario", async () => {
  for (const test_batch of [[scenario, { ...scenario, id: "t" }], scenario]) {
    const body = evaluateBody({ test_batch, own: "field", attempts: 2 });
    const found = await checkLongBatch(body, schema);
    const expected = checkBody(body, schema);
    assertEquals(JSON.stringify(found), JSON.stringify(expected));
    assertEquals(batchPath(found.test_batch, 0), batchPath(expected.test_batch, 0));
  }
});

const WRONG: Record<string, unknown> = {
  "no body": 3,
  "no batch": evaluateBody({ test_batch: undefined }),
  "a batch that is a text": evaluateBody({ test_batch: "s" }),
  "an empty list": evaluateBody({ test_batch: [] }),
  "a scenario that is none": evaluateBody({ test_batch: [scenario, 3] }),
  "a scenario without turns": evaluateBody({ test_batch: [{ id: "s", interactions: [] }] }),
  "a turn without a message": evaluateBody({
    test_batch: { id: "s", interactions: [turn("1"), { id: "2" }] },
  }),
  "a bad check": evaluateBody({
    test_batch: [{ ...scenario, checks: [{ type: "contains", value: "x", weight: -1 }] }],
  }),
  "another wrong field": evaluateBody({ test_batch: [scenario], attempts: 0, model_id: "" }),
};

for (const [what, body] of Object.entries(WRONG)) {
  Deno.test(`${what} is refused as in a short body`, async () => {
    const found = await assertRejects(() => checkLongBatch(body, schema), AppError);
    const expected = await assertRejects(async () => await checkBody(body, schema), AppError);
    assertEquals([found.message, found.errors], [expected.message, expected.errors]);
  });
}
