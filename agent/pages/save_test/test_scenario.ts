import { contentOf, isImage } from "../attachments.tsx";
import {
  type Answer,
  answerIn,
  answerText,
  type Attachment,
  type Conversation,
  shownTurns,
  titleOf,
} from "../conversation/conversation.ts";

/** A turn of a test as the person edits it. */
export interface DraftTurn {
  id: string;
  userMessage: string;
  /** Sent with it. */
  images: Attachment[];
  referenceReply: string;
  /** The tools that were called, in their order. */
  tools: { name: string; args: Record<string, unknown> }[];
  /** Whether the same calls are expected of later replies. */
  expectsTools: boolean;
  isIncluded: boolean;
}

/** A test as the person edits it. */
export interface DraftTest {
  id: string;
  description: string;
  systemPrompt: string;
  turns: DraftTurn[];
}

/** The column that stands for the better answer of each turn. */
export const BETTER = -1;

/** The shown branch as a test: what was asked, with the answers of one model as references. */
export function draftTest(conversation: Conversation, column: number): DraftTest {
  return {
    id: slugOf(titleOf(conversation)),
    description: titleOf(conversation),
    systemPrompt: conversation.settings.systemPrompt,
    turns: shownTurns(conversation).map((turn, index) => {
      const answer = answerIn(turn, column === BETTER ? turn.better ?? 0 : column);
      const tools = answer ? toolsOf(answer) : [];
      return {
        id: String(index + 1),
        userMessage: turn.text,
        images: (turn.attachments ?? []).filter(({ url }) => isImage(url)),
        referenceReply: answer ? answerText(answer) : "",
        tools,
        expectsTools: tools.length > 0,
        isIncluded: true,
      };
    }),
  };
}

function toolsOf({ parts }: Answer): DraftTurn["tools"] {
  return parts.flatMap((part) =>
    part.type === "tool" && typeof part.args === "object" &&
      (part.approval?.state ?? "approved") === "approved"
      ? [{ name: part.name, args: part.args }]
      : []
  );
}

/** The test as assay-eval reads it. A turn without a reference is asked but not compared. */
export function toScenario({ id, description, systemPrompt, turns }: DraftTest) {
  return {
    id,
    description,
    ...(systemPrompt.trim() && { system_prompt: systemPrompt.trim() }),
    interactions: turns.filter(({ isIncluded }) => isIncluded).map((turn) => ({
      id: turn.id,
      user_message: contentOf({ text: turn.userMessage, attachments: turn.images }),
      agent_reply: "",
      ...(turn.referenceReply.trim() && { reference_reply: turn.referenceReply }),
      ...(turn.expectsTools && turn.tools.length > 0 && { reference_tools: turn.tools }),
    })),
  };
}

/** Letters, digits and hyphens: ids are also names of files. */
export function slugOf(text: string): string {
  const words = text.toLowerCase().normalize("NFKD").match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...words.join("-")].slice(0, 60).join("").replace(/-$/, "") || "conversation";
}
