import type { ImportContext } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";

/** A turn that a list of chat messages holds. */
export interface ChatTurn {
  user_message: string;
  reference_reply?: string;
}

type Context = Pick<ImportContext, "leaveOut"> & { line: number };

/**
 * The turns of a conversation in OpenAI's form: what the assistant answers is the reference.
 * Messages of other roles are left out. Messages that the user sends one after another are joined.
 */
export function toTurns(messages: unknown[], { line, leaveOut }: Context): ChatTurn[] {
  const turns: ChatTurn[] = [];
  for (const message of messages) {
    const { role, content } = isFields(message) ? message : { role: undefined, content: undefined };
    const text = toText(content);
    const last = turns.at(-1);
    if (text === undefined) leaveOut(`messages without text (${describeRole(role)})`, line);
    else if (role === "user" || role === "human") {
      if (last && last.reference_reply === undefined) last.user_message += `\n\n${text}`;
      else turns.push({ user_message: text });
    } else if ((role === "assistant" || role === "ai") && last) last.reference_reply = text;
    else if (role === "system" || role === "developer") {
      leaveOut("system messages: set parameters.system_prompt of the run", line);
    } else leaveOut(`messages of the role ${describeRole(role)}`, line);
  }
  return turns;
}

/** The text of a message's content, also of one in parts; `undefined` if there is none. */
function toText(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part) =>
    isFields(part) && typeof part.text === "string" ? [part.text] : []
  );
  return texts.length === 0 ? undefined : texts.join("\n");
}

function describeRole(role: unknown): string {
  return typeof role === "string" ? role.slice(0, 40) : "none";
}
