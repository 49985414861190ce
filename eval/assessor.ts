import type { EvaluateRequest, Interaction, Scores } from "../shared/schemas/evaluate.ts";
import { createMetadataReader } from "./annotation.ts";
import { LONGEST_REMEMBERED, rememberLast } from "./background/memo.ts";
import { createBatchSemantics } from "./batch_semantics.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { gradeReply } from "./judge/grade.ts";
import type { JudgeModel } from "./judge/model.ts";
import type { LanguageDetector } from "./language/detector.ts";
import type { Assessor } from "./runner.ts";
import { matchMetadata } from "./scores/metadata_match.ts";
import { pairScorers } from "./scores/mod.ts";
import { overall } from "./scores/overall.ts";
import type { PairComparer } from "./scores/pair_scores.ts";
import { semanticSimilarity } from "./scores/semantic_similarity.ts";

/** What assessing takes beside the texts; it lives as long as the process. */
export interface ScoringPorts {
  pairs: PairComparer;
  embedder: Embedder;
  detector: LanguageDetector;
  judge?: JudgeModel;
}

/** Replies remembered for a turn: enough for a model that wavers between a few. */
const REMEMBERED = 8;

export type AssessedBatch = Pick<EvaluateRequest, "test_batch" | "rubric" | "judge_votes">;

/** Annotates and scores the replies of one batch; the batch's own references teach the labels. */
export function createAssessor(
  { test_batch, rubric, judge_votes: votes = 1 }: AssessedBatch,
  { ports, signal }: { ports: ScoringPorts; signal: AbortSignal },
): Assessor {
  const { judge } = ports;
  const semantics = createBatchSemantics(test_batch, ports);
  const readMetadata = createMetadataReader(test_batch, { semantics, judge, signal });

  /** There must be something to grade by. */
  const isJudged = ({ reference_reply }: Interaction) =>
    judge !== undefined && (reference_reply !== undefined || rubric !== undefined);

  /** A model that is sure of itself repeats itself: a turn's replies are looked at once. */
  const byTurn = new WeakMap<Interaction, (reply: string) => ReturnType<typeof study>>();

  function studyOnce(interaction: Interaction, reply: string) {
    let known = byTurn.get(interaction);
    if (!known) {
      known = rememberLast((text) => study(interaction, text), REMEMBERED, {
        longest: LONGEST_REMEMBERED,
      });
      byTurn.set(interaction, known);
    }
    return known(reply);
  }

  /** Everything that is the same for the same reply; a judge's grade need not be. */
  async function study(interaction: Interaction, reply: string) {
    const [compared, metadata] = await Promise.all([
      compare(interaction, reply),
      readMetadata({ text: reply, interaction }),
    ]);
    return { compared, metadata };
  }

  async function compare({ reference_reply: reference }: Interaction, reply: string) {
    if (reference === undefined) return { scores: sameForAll(null) };
    const pair = { reply, reference };
    const semantic = semanticSimilarity(pair, semantics);
    const scores = await ports.pairs.compare(pair);
    const { value, method } = await semantic;
    return { scores: { ...scores, semantic_similarity: value }, method };
  }

  function grade(interaction: Interaction, reply: string) {
    if (!judge || !isJudged(interaction)) return undefined;
    const { user_message: userMessage, reference_reply: reference } = interaction;
    return gradeReply({ userMessage, reply, reference }, { model: judge, rubric, votes, signal });
  }

  return {
    async assess(interaction, reply) {
      const [{ compared, metadata }, verdict] = await Promise.all([
        studyOnce(interaction, reply),
        grade(interaction, reply),
      ]);
      const { generatedMetadata, annotation } = metadata;
      const scores: Scores = {
        ...withMatches(
          compared.scores,
          matchMetadata(interaction, { reply, generatedMetadata }),
        ),
        ...(judge && { judge: verdict?.value ?? null }),
      };
      return {
        generatedMetadata,
        scores: { ...scores, overall: overall(scores) },
        ...(compared.method && { score_methods: { semantic_similarity: compared.method } }),
        ...(annotation && { annotation }),
        ...(verdict && { judge: verdict.result }),
      };
    },

    // A score must never rise because the endpoint got worse: a failed turn counts 0 in every score
    // that it would have had, and in the headline even where it would have had none.
    failed(interaction) {
      return {
        ...withMatches(
          sameForAll(interaction.reference_reply === undefined ? null : 0),
          matchMetadata(interaction, { reply: "", generatedMetadata: {} }),
        ),
        ...(judge && { judge: isJudged(interaction) ? 0 : null }),
        overall: 0,
      };
    },
  };
}

/**
 * Callers name the metadata keys: the match of one called `exact` must not pass for `exact_match`,
 * and only enters `metadata_match`. Ours stand first for the reader, and once more to win.
 */
function withMatches(ours: Scores, matches: Scores): Scores {
  return { ...ours, ...matches, ...ours };
}

/** Every score that compares with the reference, of one value. */
function sameForAll(value: number | null): Scores {
  const names = [...pairScorers.map(({ name }) => name), "semantic_similarity"];
  return Object.fromEntries(names.map((name) => [name, value]));
}
