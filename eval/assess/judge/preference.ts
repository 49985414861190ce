import { z } from "zod";
import { createMark, quotationRule, quote } from "./prompt.ts";
import { askVotes, type VoteOptions } from "./votes.ts";

const Verdict = z.strictObject({
  reason: z.string().describe("one or two sentences, written before the verdict"),
  better: z.enum(["first", "second", "tie"]),
});
type Verdict = z.infer<typeof Verdict>;

/** A verdict without its reason is a verdict. */
const AcceptedVerdict: z.ZodType<Verdict> = Verdict.extend({ reason: z.string().default("") });

const RUBRIC = "The better reply helps the user more: right facts, nothing made up, the outcome " +
  "that was asked for. Order, length and style do not matter. If both are about as good or as " +
  "bad, say tie.";

/** Two replies to the same message. */
interface RepliesToCompare {
  userMessage: string;
  reference: string | undefined;
  replies: [string, string];
  /** The caller's own; ours if unset. */
  rubric: string | undefined;
}

/**
 * Which of two replies the judge prefers: 0 or 1, `tie`, or why it cannot be told. It is asked in
 * both orders, because judges like what comes first: a preference that changes with the order is
 * `contradictory`. Rejects once aborted.
 */
export async function preferReply(
  compared: RepliesToCompare,
  options: Omit<VoteOptions, "votes">,
): Promise<0 | 1 | "tie" | "contradictory" | { error: string }> {
  const [straight, swapped] = await Promise.all([false, true].map(async (isSwapped) => {
    const ask = () => ({
      name: "preference",
      ...question(compared, isSwapped),
      form: '"reason": string, "better": "first", "second" or "tie"',
      schema: Verdict,
      accepted: AcceptedVerdict,
    });
    const [vote] = await askVotes(ask, { ...options, votes: 1 });
    if (typeof vote === "string" || vote === undefined) return { error: vote ?? "no vote" };
    if (vote.better === "tie") return "tie";
    return (vote.better === "first") !== isSwapped ? 0 : 1;
  }));
  if (typeof straight === "object") return straight;
  if (typeof swapped === "object") return swapped;
  if (straight === swapped) return straight!;
  return straight === "tie" || swapped === "tie" ? "tie" : "contradictory";
}

function question(
  { userMessage, reference, replies: [a, b], rubric = RUBRIC }: RepliesToCompare,
  isSwapped: boolean,
) {
  const mark = createMark();
  const texts = [
    quote("user_message", userMessage, mark),
    reference === undefined ? "" : quote("reference", reference, mark),
    quote("first_reply", isSwapped ? b : a, mark),
    quote("second_reply", isSwapped ? a : b, mark),
  ];
  return {
    instructions: "You say which of two replies to the same message is better.\n\n" +
      `${rubric}\n\n${quotationRule(mark)}`,
    texts: texts.filter(Boolean).join("\n\n"),
  };
}
