import { createHash } from "node:crypto";
import { z } from "zod";

const MOST_PARTS = 50;

/** One part of a message as OpenAI spells it: a text, or an image by its address or with its data. */
const UserPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.strictObject({
      url: z.string().regex(/^(https?:\/\/|data:image\/(png|jpeg|gif|webp);base64,)/, {
        error: "must be an http or https URL, or data:image/png;base64,… (png, jpeg, gif, webp)",
      }),
      detail: z.string().optional(),
    }),
  }),
]);
export const UserParts = z.array(UserPart).min(1).max(MOST_PARTS);
export type UserParts = z.infer<typeof UserParts>;

/**
 * A message in words, as lists, exports, scores and the judge have it: images are marks. That of an
 * image's data has a digest, so that another image is another question.
 */
export function textOfParts(parts: UserParts): string {
  return parts.map((part) => part.type === "text" ? part.text : markOf(part.image_url.url))
    .join("\n");
}

function markOf(url: string): string {
  if (!url.startsWith("data:")) return `[image: ${url}]`;
  return `[image ${createHash("sha256").update(url).digest("hex").slice(0, 8)}]`;
}

/** Moves a `user_message` of parts into `user_parts`; what is not valid is left to the schema. */
export function splitParts(turn: unknown): unknown {
  if (typeof turn !== "object" || turn === null || !("user_message" in turn)) return turn;
  if (!Array.isArray(turn.user_message)) return turn;
  const { data } = UserParts.safeParse(turn.user_message);
  const user_message = data ? textOfParts(data) : "";
  return { ...turn, user_message, user_parts: turn.user_message };
}
