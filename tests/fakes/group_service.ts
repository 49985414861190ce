import type { Target } from "../../eval/ask/target.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "./eval_service.ts";

type Service = ReturnType<typeof evalService>["service"];

/** How many scenarios the batch has. */
export const SCENARIOS = 12;

/** Scenarios that each expect their own number. */
function batch() {
  return Array.from({ length: SCENARIOS }, (_, index) => ({
    id: `s${index}`,
    interactions: [{ id: "1", user_message: `say ${index}`, reference_reply: `it is ${index}` }],
  }));
}

/** The body of a request for several models. */
export const body = (fields: Record<string, unknown> = {}) =>
  evaluateBody({ test_batch: batch(), model_id: undefined, ...fields });

/** Answers right, except for models with "bad" in their name. */
export function targetOf({ model_id }: { model_id: string }): Target {
  return {
    ask(conversation) {
      const number = conversation.at(-1)!.content.replace("say ", "");
      const content = model_id.includes("bad") ? "no idea whatsoever" : `it is ${number}`;
      const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
      const cost = { amount: model_id.includes("bad") ? 0.001 : 0.01, currency: "USD" };
      return Promise.resolve({ content, usage, cost });
    },
    isPriced: true,
  };
}

/** A service whose models answer by `targetOf`. */
export const groupService = (options: Parameters<typeof evalService>[1] = {}) =>
  evalService(() => "", { targetOf, ...options });

/** Sends a request with several models. */
export async function post(
  service: Service,
  fields: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const response = await service(evaluateRequestOf(body(fields), headers));
  return { response, status: response.status, answer: await response.json() };
}

/** Calls a route: `GET /runs`. */
export async function call(service: Service, what: string, headers: Record<string, string> = {}) {
  const [method = "", path = ""] = what.split(" ");
  const response = await service(new Request(`http://127.0.0.1:8080${path}`, { method, headers }));
  const text = await response.text();
  return { status: response.status, answer: text === "" ? undefined : JSON.parse(text) };
}
