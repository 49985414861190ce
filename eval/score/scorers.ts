import type { ScoringPorts } from "./scoring_ports.ts";
import { checksScore } from "./scores/checks.ts";
import { judgeScore } from "./scores/judge.ts";
import { metadataMatch } from "./scores/metadata_match.ts";
import { describeOverall } from "./overall.ts";
import type { ScoreDescription } from "./score.ts";
import type { RepeatableScorer, RepliedTurn, Scorer, ScorerResult } from "./scores/scorer.ts";
import { toolScores } from "./scores/tools.ts";
import { webhookScores } from "./scores/webhook.ts";
import { meaning } from "./scores/semantic_similarity.ts";
import { referenceOf, referencesOf } from "./references.ts";
import { pairScorers } from "./pair_scorers.ts";

/** The scores of the table in `pair_scorers.ts`. */
const textPairs: Scorer = {
  describe: () => pairScorers.map(({ compare: _, longest: __, ...description }) => description),

  forBatch: ({ pairs }) => ({
    isRepeatable: true,
    plan: (interaction) => sameForAll(referenceOf(interaction) !== undefined),
    score({ interaction, reply }: RepliedTurn) {
      const reference = referenceOf(interaction);
      return reference === undefined
        ? { scores: sameForAll(null) }
        : pairs.compare({ reply, reference });
    },
  }),
};

/**
 * Every scorer, in the order in which scores are reported. Scores that only compare two texts have
 * their own table in `pair_scorers.ts`. `overall` is computed from these.
 */
export const scorers: readonly Scorer[] = [
  nearestReference(textPairs),
  nearestReference(meaning),
  metadataMatch,
  judgeScore,
  checksScore,
  toolScores,
  webhookScores,
];

/** Descriptions of all scores, as they are computed with these ports. */
export function describeScores(ports: ScoringPorts): ScoreDescription[] {
  return [...scorers.flatMap((scorer) => scorer.describe(ports)), describeOverall()];
}

function sameForAll<T>(value: T): Record<string, T> {
  return Object.fromEntries(pairScorers.map(({ name }) => [name, value]));
}

/** Applies a scorer of one reference to each reference of a turn; the best result counts. */
function nearestReference(scorer: Scorer): Scorer {
  return {
    ...scorer,
    forBatch(batch) {
      const single = scorer.forBatch(batch);
      return single?.isRepeatable
        ? { ...single, score: (turn: RepliedTurn) => scoreNearest(single, turn) }
        : single;
    },
  };
}

async function scoreNearest(
  scorer: RepeatableScorer,
  { interaction, reply }: RepliedTurn,
): Promise<ScorerResult> {
  const { reference_replies: _, ...turn } = interaction;
  const [first = "", ...others] = referencesOf(interaction);
  if (others.length === 0) {
    return scorer.score({ interaction: { ...turn, reference_reply: first }, reply });
  }
  const outcomes = await Promise.all(
    [first, ...others].map(async (reference_reply) =>
      await scorer.score({ interaction: { ...turn, reference_reply }, reply })
    ),
  );
  const names = Object.keys(outcomes[0]!.scores);
  const failed = outcomes.find(({ missing = {} }) => names.some((name) => name in missing));
  if (failed) return failed;
  const scoreOf = ({ scores }: ScorerResult, name: string) => scores[name] ?? -1;
  const nearest = outcomes.reduce((best, one) =>
    scoreOf(one, names[0]!) > scoreOf(best, names[0]!) ? one : best
  );
  const scores = Object.fromEntries(names.map((name) => {
    const most = Math.max(...outcomes.map((outcome) => scoreOf(outcome, name)));
    return [name, most < 0 ? null : most];
  }));
  return { ...nearest, scores };
}
