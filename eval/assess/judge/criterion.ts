import { z } from "zod";
import { createMark, quotationRule, quote } from "./prompt.ts";
import { askVotes, type VoteOptions } from "./votes.ts";

const Verdict = z.strictObject({
  reason: z.string().describe("one or two sentences, written before the verdict"),
  met: z.boolean(),
});
type Verdict = z.infer<typeof Verdict>;

/** A verdict without its reason is a verdict. */
const AcceptedVerdict: z.ZodType<Verdict> = Verdict.extend({ reason: z.string().default("") });

interface JudgedCriterion {
  criterion: string;
  /** The texts that it is about, by name: a reply and its question, or a whole conversation. */
  texts: Record<string, string>;
}

/** Whether the criterion is met; `null`, with the reason, if the judge cannot say. */
interface CriterionVerdict {
  isMet: boolean | null;
  reason: string;
}

/**
 * Asks the judge `votes` times whether a criterion is met; more than half of the votes that could be
 * read decide. Rejects once aborted.
 */
export async function judgeCriterion(
  judged: JudgedCriterion,
  options: VoteOptions,
): Promise<CriterionVerdict> {
  const votes = await askVotes(() => ({
    name: "criterion",
    ...question(judged),
    form: '"reason": string, "met": true or false',
    schema: Verdict,
    accepted: AcceptedVerdict,
  }), options);
  const read = votes.filter((vote) => typeof vote !== "string");
  const met = read.filter((vote) => vote.met);
  const against = read.length - met.length;
  if (read.length === 0) return { isMet: null, reason: votes[0] as string };
  if (met.length === against) return { isMet: null, reason: "the judge's votes are tied" };
  const isMet = met.length > against;
  const { reason } = read.find((vote) => vote.met === isMet)!;
  return { isMet, reason: reason || "the judge says so" };
}

function question({ criterion, texts }: JudgedCriterion) {
  const mark = createMark();
  return {
    instructions: "You decide whether a criterion is met by an assistant. It is met only if all " +
      `of it is.\n\nThe criterion: ${criterion}\n\n${quotationRule(mark)}`,
    texts: Object.entries(texts).map(([name, text]) => quote(name, text, mark)).join("\n\n"),
  };
}
