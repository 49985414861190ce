import { z } from "zod";
import { type AppError, invalidParameter } from "../service/errors.ts";

/** The text of a cursor, which is opaque to callers. */
export function writeCursor(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

const FORGED = "must be the next_cursor of the page before";

/** The error for a cursor that no page has. */
export function forgedCursor(): AppError {
  return invalidParameter("cursor", FORGED);
}

/** Longer ones were not written by this service. */
const LONGEST_CURSOR = 2_048;

/** A query parameter that `writeCursor` has written, of a value of this shape. */
export function cursor<T extends z.ZodType>(schema: T) {
  return z.string().max(LONGEST_CURSOR).transform((text, context): z.output<T> => {
    const parsed = schema.safeParse(parse(text));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: FORGED });
    return z.NEVER;
  });
}

/** The error for a cursor of another order, which would skip rows or repeat them. */
export function wrongCursor(sort: string): AppError {
  return invalidParameter(
    "cursor",
    `must be of a page with the same sort; this one is of sort=${sort}`,
  );
}

function parse(text: string): unknown {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
