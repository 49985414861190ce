import { ProviderError } from "../../../shared/providers/provider.ts";
import type { Interaction } from "../../test/scenario.ts";
import { shorten } from "../../../shared/service/text.ts";
import type { WebhookScorer } from "../../test/evaluate_request.ts";
import type { ScoreEntry, ScoreInput, Scorer } from "./scorer.ts";

const LONGEST_REASON = 2_000;
const UNREADABLE = 'the answer of the scorer must be {"score": 0 to 1 or null, "reason": text}';

/** The scores of the caller's own services. A score that fails is missing. */
export const webhookScores: Scorer = {
  describe: () => [],
  forBatch({ scenarios, webhooks: scorers, askScorer: ask, signal }) {
    if (scorers.length === 0) return undefined;
    const scenarioOf = new Map<Interaction, string>(
      scenarios.flatMap(({ id, interactions }) => interactions.map((turn) => [turn, id] as const)),
    );

    async function scoreBy(
      { name, url }: WebhookScorer,
      input: ScoreInput,
    ): Promise<ScoreEntry & { comment?: string | undefined }> {
      const without = (reason: string) => (
        { value: null, reason: shorten(reason, LONGEST_REASON, "…"), method: url }
      );
      try {
        const turn = describeTurn(input, scenarioOf.get(input.interaction));
        const { score: value, reason } = await ask({ name, url }, turn, signal);
        if (value === null) return without(reason ?? "the scorer gave no score");
        return { value, method: url, comment: reason && shorten(reason, LONGEST_REASON, "…") };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return without(error.failure.kind === "unreadable" ? UNREADABLE : error.message);
      }
    }

    const ofAll = <T>(read: (scorer: WebhookScorer, index: number) => T): Record<string, T> =>
      Object.fromEntries(scorers.map((scorer, index) => [scorer.name, read(scorer, index)]));

    return {
      hasCallersNames: true,
      plan: () => ofAll(() => true),
      keep(_interaction, { scores, score_methods, score_reasons = {} }) {
        const isKept = scorers.every(({ name, url }) =>
          typeof scores[name] === "number" && score_methods?.[name] === url
        );
        if (!isKept) return undefined;
        return {
          scores: ofAll(({ name, url }) => ({ value: scores[name], method: url })),
          ...(Object.keys(score_reasons).length > 0 && { fields: { score_reasons } }),
        };
      },
      async score(input: ScoreInput) {
        const found = await Promise.all(scorers.map((scorer) => scoreBy(scorer, input)));
        const commented = Object.entries(ofAll((_, index) => found[index]!.comment))
          .filter(([, comment]) => comment);
        return {
          scores: ofAll((_, index) => found[index]!),
          ...(commented.length > 0 && {
            fields: { score_reasons: Object.fromEntries(commented) as Record<string, string> },
          }),
        };
      },
    };
  },
};

/** The request to a scorer: the turn as it was sent, and its result. */
function describeTurn(
  { interaction, reply, latencyMs, usage, toolCalls, conversation }: ScoreInput,
  scenario_id: string | undefined,
): Record<string, unknown> {
  return {
    scenario_id,
    interaction: { ...interaction, agent_reply: reply },
    conversation: conversation(),
    latency_ms: latencyMs ?? null,
    usage,
    ...(toolCalls && { tool_calls: toolCalls }),
  };
}
