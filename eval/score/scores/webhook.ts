import { ProviderError } from "../../../shared/providers/provider.ts";
import type { Interaction } from "../../test/scenario.ts";
import { shorten } from "../../../shared/service/text.ts";
import type { WebhookScorer } from "../../test/evaluate_request.ts";
import type { ScoreInput, Scorer, ScorerResult } from "./scorer.ts";

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

    async function scoreBy(scorer: WebhookScorer, input: ScoreInput): Promise<ScorerResult> {
      const { name, url } = scorer;
      const methods = { [name]: url };
      const without = (reason: string): ScorerResult => ({
        scores: { [name]: null },
        missing: { [name]: shorten(reason, LONGEST_REASON, "…") },
        methods,
      });
      try {
        const turn = describeTurn(input, scenarioOf.get(input.interaction));
        const { score, reason } = await ask(scorer, turn, signal);
        if (score === null) return without(reason ?? "the scorer gave no score");
        const reasons = reason ? { [name]: shorten(reason, LONGEST_REASON, "…") } : {};
        return { scores: { [name]: score }, methods, fields: { score_reasons: reasons } };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return without(error.failure.kind === "unreadable" ? UNREADABLE : error.message);
      }
    }

    return {
      hasCallersNames: true,
      plan: () => Object.fromEntries(scorers.map(({ name }) => [name, true])),
      keep(_interaction, { scores, score_methods, score_reasons = {} }) {
        const isKept = scorers.every(({ name, url }) =>
          typeof scores[name] === "number" && score_methods?.[name] === url
        );
        if (!isKept) return undefined;
        return {
          scores: Object.fromEntries(scorers.map(({ name }) => [name, scores[name]!])),
          methods: Object.fromEntries(scorers.map(({ name, url }) => [name, url])),
          ...(Object.keys(score_reasons).length > 0 && { fields: { score_reasons } }),
        };
      },
      async score(input: ScoreInput) {
        const outcomes = await Promise.all(scorers.map((scorer) => scoreBy(scorer, input)));
        const merge = <T>(read: (outcome: ScorerResult) => Record<string, T> | undefined) =>
          Object.assign({}, ...outcomes.map(read)) as Record<string, T>;
        const score_reasons = merge(({ fields }) => fields?.score_reasons);
        return {
          scores: merge(({ scores }) => scores),
          missing: merge(({ missing }) => missing),
          methods: merge(({ methods }) => methods),
          ...(Object.keys(score_reasons).length > 0 && { fields: { score_reasons } }),
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
