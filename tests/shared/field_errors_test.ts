import { assertEquals } from "@std/assert";
import { z } from "zod";
import { listFieldErrors } from "../../shared/field_errors.ts";
import { AgentRequest } from "../../agent/schemas/agent.ts";
import { evaluateRequest } from "../../eval/schemas/evaluate_request.ts";

function errorsOf(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return listFieldErrors(error!, value).map(({ path, message }) => `${path}: ${message}`);
}

const evaluation = { endpoint: "http://model.example/v1", model_id: "m" };

Deno.test("a value that has none of a field's types is refused with these types", () => {
  assertEquals(errorsOf(AgentRequest, { messages: [{ type: "human", content: 5 }] }), [
    "messages.0.content: Invalid input: expected string or array, received number",
  ]);
  assertEquals(errorsOf(evaluateRequest(10), { ...evaluation, test_batch: "greeting" }), [
    "test_batch: Invalid input: expected object or array, received string",
  ]);
});

Deno.test("the errors of a value that has one of a field's types are those of that form", () => {
  const test_batch = { id: "s", interactions: [{ id: "1" }] };
  assertEquals(errorsOf(evaluateRequest(10), { ...evaluation, test_batch }), [
    "test_batch.interactions.0.user_message: is missing",
  ]);
});

Deno.test("a message of the schema's own is kept", () => {
  const schema = z.object({ a: z.union([z.string(), z.number()], { error: "must be short" }) });
  assertEquals(errorsOf(schema, { a: true }), ["a: must be short"]);
});
