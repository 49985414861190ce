import { z } from "zod";
import { ProviderError } from "../../../shared/providers/provider.ts";
import type { JudgeModel } from "./model.ts";
import { createMark, quotationRule, quote } from "./prompt.ts";
import { askStructured, UnreadableAnswer } from "./structured.ts";

const Verdict = z.strictObject({
  reason: z.string().describe("one or two sentences, written before the verdict"),
  met: z.boolean(),
});
type Verdict = z.infer<typeof Verdict>;

/** A verdict without its reason is a verdict. */
const AcceptedVerdict: z.ZodType<Verdict> = Verdict.extend({ reason: z.string().default("") });

export interface JudgedCriterion {
  criterion: string;
  /** The texts that it is about, by name: a reply and its question, or a whole conversation. */
  texts: Record<string, string>;
}

export interface CriterionOptions {
  model: JudgeModel;
  votes: number;
  signal: AbortSignal;
}

/** Whether the criterion is met; `null`, with the reason, if the judge cannot say. */
export interface CriterionVerdict {
  isMet: boolean | null;
  reason: string;
}

/**
 * Asks the judge `votes` times whether a criterion is met; more than half of the votes that could be
 * read decide. Rejects once aborted.
 */
export async function judgeCriterion(
  judged: JudgedCriterion,
  options: CriterionOptions,
): Promise<CriterionVerdict> {
  const votes = await Promise.all(
    Array.from({ length: options.votes }, () => vote(judged, options)),
  );
  const read = votes.filter((vote) => typeof vote !== "string");
  const met = read.filter((vote) => vote.met);
  const against = read.length - met.length;
  if (read.length === 0) return { isMet: null, reason: votes[0] as string };
  if (met.length === against) return { isMet: null, reason: "the judge's votes are tied" };
  const isMet = met.length > against;
  const { reason } = read.find((vote) => vote.met === isMet)!;
  return { isMet, reason: reason || "the judge says so" };
}

async function vote(
  judged: JudgedCriterion,
  { model, votes, signal }: CriterionOptions,
): Promise<Verdict | "judge_unreadable" | "judge_unavailable"> {
  try {
    return await askStructured({
      name: "criterion",
      ...question(judged),
      form: '"reason": string, "met": true or false',
      schema: Verdict,
      accepted: AcceptedVerdict,
      // One vote should be the same tomorrow; several should be able to differ.
      ...(votes === 1 && { temperature: 0 }),
    }, { model, signal });
  } catch (error) {
    if (error instanceof UnreadableAnswer) return "judge_unreadable";
    if (error instanceof ProviderError) return "judge_unavailable";
    throw error;
  }
}

function question({ criterion, texts }: JudgedCriterion) {
  const mark = createMark();
  return {
    instructions: "You decide whether a criterion is met by an assistant. It is met only if all " +
      `of it is.\n\nThe criterion: ${criterion}\n\n${quotationRule(mark)}`,
    texts: Object.entries(texts).map(([name, text]) => quote(name, text, mark)).join("\n\n"),
  };
}
