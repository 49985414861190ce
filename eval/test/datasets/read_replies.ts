import {
  asFields,
  asList,
  type Fields,
  isFields,
  tryParseJson,
} from "../../../shared/service/fields.ts";
import type { GivenReply } from "../evaluate_request.ts";
import { REQUEST_FAILED, type Scenario } from "../scenario.ts";
import { readReply } from "../formats/replies.ts";

/**
 * The replies of a file that has nothing else: the turns of a run (`export --format jsonl`), rows
 * with `scenario_id` and `agent_reply`, or the output of OpenAI's batches, whose `custom_id` is the
 * id of a scenario. `undefined` for any other file.
 */
export function readReplyRows(text: string): GivenReply[] | undefined {
  const [first = "", ...others] = text.replace(/^\ufeff/, "").split("\n")
    .filter((line) => line.trim() !== "");
  if (!rowOf(tryParseJson(first))) return undefined;
  return [first, ...others].flatMap((line, index) =>
    rowOf(tryParseJson(line)) ??
      [{ scenario_id: `(line ${index + 1} is no reply)`, agent_reply: "" }]
  );
}

function rowOf(value: unknown): GivenReply[] | undefined {
  if (!isFields(value)) return undefined;
  const { scenario_id, agent_reply, custom_id } = value;
  if (typeof custom_id === "string" && ("response" in value || "error" in value)) {
    return batchReplies(value).map((agent_reply) => ({ scenario_id: custom_id, agent_reply }));
  }
  if (typeof scenario_id !== "string" || typeof agent_reply !== "string") return undefined;
  const { attempt_id, turn, interaction_id } = value as Partial<GivenReply>;
  return [{
    scenario_id,
    agent_reply,
    ...(attempt_id !== undefined && { attempt_id }),
    ...(turn !== undefined && { turn }),
    ...(interaction_id !== undefined && { interaction_id }),
  }];
}

/** One per choice. */
function batchReplies({ response }: Fields): string[] {
  const body = asFields(asFields(response).body);
  const choices = asList(body.choices);
  const said = choices.length > 0 ? choices.map((one) => asFields(one).message) : [body];
  return said.map((one) => readReply(one) || REQUEST_FAILED);
}

/** The replies of scenarios, for those of a dataset that ask the same under the same id or another. */
export function repliesOf(answered: Scenario[], scenarios: Scenario[]): GivenReply[] {
  const ids = new Set(scenarios.map(({ id }) => id));
  const asked = ({ interactions }: Scenario) =>
    JSON.stringify(interactions.map(({ user_message }) => user_message));
  const byQuestion = new Map(scenarios.map((one) => [asked(one), one.id]));
  return answered.flatMap((one) => {
    const scenario_id = ids.has(one.id) ? one.id : byQuestion.get(asked(one)) ?? one.id;
    const attempt = typeof one.attempt_id === "number" ? { attempt_id: one.attempt_id } : {};
    return one.interactions.map(({ agent_reply }, turn) => ({
      scenario_id,
      ...attempt,
      turn,
      agent_reply,
    }));
  });
}
