import type { ScoringPorts } from "./scoring_ports.ts";
import { checksScore } from "./scores/checks.ts";
import { judgeScore } from "./scores/judge.ts";
import { metadataMatch } from "./scores/metadata_match.ts";
import { describeOverall } from "./score.ts";
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
    async score({ interaction, reply }: RepliedTurn) {
      const reference = referenceOf(interaction);
      if (reference === undefined) return { scores: sameForAll({ value: null }) };
      const { scores, missing } = await pairs.compare({ reply, reference });
      const entries = Object.entries(scores).map(([name, value]) =>
        [name, { value, reason: missing[name] }] as const
      );
      return { scores: Object.fromEntries(entries) };
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

async function scoreNearest(scorer: RepeatableScorer, turn: RepliedTurn): Promise<ScorerResult> {
  const { reference_replies: _, ...rest } = turn.interaction;
  const [first = "", ...others] = referencesOf(turn.interaction);
  const scoreWith = async (reference_reply: string) =>
    await scorer.score({ ...turn, interaction: { ...rest, reference_reply } });
  if (others.length === 0) return scoreWith(first);
  const outcomes = await Promise.all([first, ...others].map(scoreWith));
  const names = Object.keys(scorer.plan(turn.interaction));
  const failed = outcomes.find(({ scores }) =>
    names.some((name) => scores[name]!.reason !== undefined)
  );
  if (failed) return failed;
  const valueOf = ({ scores }: ScorerResult, name: string) => scores[name]!.value ?? -1;
  const nearest = outcomes.reduce((best, one) =>
    valueOf(one, names[0]!) > valueOf(best, names[0]!) ? one : best
  );
  const scores = Object.fromEntries(names.map((name) => {
    const most = Math.max(...outcomes.map((outcome) => valueOf(outcome, name)));
    return [name, { ...nearest.scores[name], value: most < 0 ? null : most }];
  }));
  return { ...nearest, scores: { ...nearest.scores, ...scores } };
}
