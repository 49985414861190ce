import { referencesOf } from "../references.ts";
import type { Outcome, RepeatableScorer, RepliedTurn, Scorer } from "./scorer.ts";

/** A scorer of one reference that is asked about each of a turn's; the nearest counts. */
export function nearestReference(scorer: Scorer): Scorer {
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
): Promise<Outcome> {
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
  const failed = outcomes.find(({ missing }) => missing);
  if (failed) return failed;
  const names = Object.keys(outcomes[0]!.scores);
  const scoreOf = ({ scores }: Outcome, name: string) => scores[name] ?? -1;
  const nearest = outcomes.reduce((best, one) =>
    scoreOf(one, names[0]!) > scoreOf(best, names[0]!) ? one : best
  );
  const scores = Object.fromEntries(names.map((name) => {
    const most = Math.max(...outcomes.map((outcome) => scoreOf(outcome, name)));
    return [name, most < 0 ? null : most];
  }));
  return { ...nearest, scores };
}
