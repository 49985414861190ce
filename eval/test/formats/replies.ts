import { asFields, asList, asText } from "../../../shared/service/fields.ts";
import { answerOf } from "./chat_messages.ts";

/**
 * The text of what a model answered, in the forms of the common tools: a text, a message, a
 * completion, a response, a sample of OpenAI's evals. `undefined` if it is none of them.
 */
export function readReply(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const { choices, output_text, output, completion, message, content, role } = asFields(value);
  if (role !== undefined) {
    // A message of the Responses API has parts of its own types.
    const parts = asList(content).map((part) => asText(asFields(part).text) ?? "").join("");
    return answerOf(value) ?? (parts || undefined);
  }
  const [choice] = asList(choices);
  if (choice !== undefined) return readReply(asFields(choice).message);
  for (const text of [output_text, completion]) if (typeof text === "string") return text;
  if (message !== undefined) return readReply(message);
  if (typeof output === "string") return output;
  if (Array.isArray(output)) {
    return output.map(readReply).findLast((text) => text !== undefined);
  }
  return output === undefined ? undefined : readReply(output);
}
