import {
  type EvaluateRequest,
  type Interaction,
  ScoredBy,
  type Scores,
} from "../../shared/schemas/evaluate.ts";
import { type AnnotatedMetadata, createMetadataReader } from "./metadata/annotation.ts";
import { createSharedMemo } from "./background/memo.ts";
import { createBatchSemantics } from "./batch_semantics.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { gradeReply } from "./judge/grade.ts";
import type { JudgeModel } from "./judge/model.ts";
import type { LanguageDetector } from "./language/detector.ts";
import type { Assessment, Assessor } from "./assessment.ts";
import { matchMetadata, type MetadataMatch } from "./scores/metadata_match.ts";
import { pairScorers } from "./scores/mod.ts";
import { overall, type PlannedPart } from "./scores/overall.ts";
import type { PairComparer } from "./scores/pair_scores.ts";
import { differencesBetween } from "./text/differences.ts";
import { CALIBRATION } from "./scores/similarity_method.ts";
import { semanticSimilarity } from "./scores/semantic_similarity.ts";

/** What assessing takes beside the texts; it lives as long as the process. */
export interface ScoringPorts {
  pairs: PairComparer;
  embedder: Embedder;
  detector: LanguageDetector;
  judge?: JudgeModel;
}

/** What is the same for the same reply of a turn. */
interface Study {
  compared: {
    scores: Scores;
    missing: Record<string, string>;
    method?: string | undefined;
    differences?: ReturnType<typeof differencesBetween>;
  };
  metadata: AnnotatedMetadata;
}

/** Of all turns of all runs together: one budget for the process. */
const studies = createSharedMemo<Study>();

/** Results that are larger than the memo reckons with are not kept. */
const MAX_REMEMBERED_KEYS = 32;

/** What is missing may be there the next time. */
function isLasting({ compared, metadata }: Study): boolean {
  return Object.keys(compared.missing).length === 0 && metadata.isLasting &&
    Object.keys(metadata.annotation?.keys ?? {}).length <= MAX_REMEMBERED_KEYS;
}

/**
 * What scores a run's meanings and grades. A run that goes on under another configuration must not
 * mix two scales in one mean, so it is stored with the run.
 */
export function describeScoring({ judge, embedder }: ScoringPorts): ScoredBy {
  const { method, isEnglishOnly: isCalibrated } = embedder;
  const embeddings = isCalibrated ? `${method}/${CALIBRATION}` : method;
  return { judge: judge?.name ?? null, embeddings };
}

/** `scored_by` is unset in runs of releases that did not store it. */
export type AssessedBatch =
  & Pick<EvaluateRequest, "test_batch" | "rubric" | "judge_votes">
  & { scored_by?: unknown };

export interface AssessorOptions {
  ports: ScoringPorts;
  signal: AbortSignal;
  /** Called if a label cannot be read, with the first error of each kind. */
  onLabelFailure?: (error: unknown) => void;
}

/** Annotates and scores the replies of one batch; the batch's own references teach the labels. */
export function createAssessor(
  { test_batch, rubric, judge_votes: votes = 1, ...batch }: AssessedBatch,
  { ports, signal, onLabelFailure }: AssessorOptions,
): Assessor {
  const current = describeScoring(ports);
  const planned = ScoredBy.safeParse(batch.scored_by).data ?? current;
  const plansJudge = planned.judge !== null;
  const judge = planned.judge === current.judge ? ports.judge : undefined;
  const semantics = createBatchSemantics(test_batch, ports);
  semantics.encodeReferences(signal); // while the first questions are on their way
  const metadataReader = createMetadataReader(test_batch, {
    semantics,
    judge,
    signal,
    unavailable: changedLabelling(planned, current),
    onFailure: onLabelFailure,
  });

  /** There must be something to grade by. */
  const isJudged = ({ reference_reply }: Interaction) =>
    plansJudge && (reference_reply !== undefined || rubric !== undefined);

  /** A model that is sure of itself repeats itself: a turn's replies are looked at once. */
  const byTurn = new WeakMap<Interaction, (reply: string) => Promise<Study>>();

  function studyOnce(interaction: Interaction, reply: string): Promise<Study> {
    let known = byTurn.get(interaction);
    if (!known) {
      known = studies.of((text) => study(interaction, text), isLasting);
      byTurn.set(interaction, known);
    }
    return known(reply);
  }

  /** Everything that is the same for the same reply; a judge's grade need not be. */
  async function study(interaction: Interaction, reply: string): Promise<Study> {
    const [compared, metadata] = await Promise.all([
      compare(interaction, reply),
      metadataReader.read({ text: reply, interaction }),
    ]);
    return { compared, metadata };
  }

  async function compare(
    { reference_reply: reference }: Interaction,
    reply: string,
  ): Promise<Study["compared"]> {
    if (reference === undefined) return { scores: sameForAll(null), missing: {} };
    const pair = { reply, reference };
    const semantic = compareMeaning(pair);
    const { scores, missing } = await ports.pairs.compare(pair);
    const { value, method, missing: unknownMeaning } = await semantic;
    return {
      scores: { ...scores, semantic_similarity: value },
      missing: {
        ...missing,
        ...(unknownMeaning !== undefined && { semantic_similarity: unknownMeaning }),
      },
      method,
      differences: differencesBetween(reply, reference),
    };
  }

  async function compareMeaning(
    pair: { reply: string; reference: string },
  ): Promise<{ value: number | null; method?: string; missing?: string }> {
    if (planned.embeddings !== current.embeddings) {
      return { value: null, missing: changed(planned.embeddings, current.embeddings) };
    }
    return await semanticSimilarity(pair, semantics);
  }

  async function grade(interaction: Interaction, reply: string) {
    if (!isJudged(interaction)) return undefined;
    if (!judge) return { value: null, missing: changed(planned.judge, current.judge) };
    const { user_message: userMessage, reference_reply: reference } = interaction;
    const graded = await gradeReply(
      { userMessage, reply, reference },
      { model: judge, rubric, votes, signal },
    );
    return { ...graded, missing: graded.result.error ?? "judge_unreadable" };
  }

  /** The parts of a turn's `overall`, which do not depend on the reply. */
  function plan(
    interaction: Interaction,
    { scores, matches }: { scores: Scores; matches: Pick<MetadataMatch, "isPlanned" | "bounds"> },
  ): PlannedPart[] {
    const value = (name: string) => scores[name] ?? null;
    return [
      ...(interaction.reference_reply === undefined
        ? []
        : [{ name: "semantic_similarity", value: value("semantic_similarity") } as const]),
      ...(matches.isPlanned
        ? [
          {
            name: "metadata_match",
            value: value("metadata_match"),
            bounds: matches.bounds,
          } as const,
        ]
        : []),
      ...(isJudged(interaction) ? [{ name: "judge", value: value("judge") } as const] : []),
    ];
  }

  return {
    async assess(interaction, reply) {
      const [{ compared, metadata }, verdict] = await Promise.all([
        studyOnce(interaction, reply),
        grade(interaction, reply),
      ]);
      const { generatedMetadata, annotation } = metadata;
      const matches = matchMetadata(interaction, { reply, generatedMetadata, annotation });
      const scores: Scores = {
        ...withMatches(compared.scores, matches.scores),
        ...(plansJudge && { judge: verdict?.value ?? null }),
      };
      const missing = {
        ...withoutOurs(matches.missing, compared.scores),
        ...compared.missing,
        ...(verdict?.value === null && { judge: verdict.missing }),
      };
      return {
        generatedMetadata,
        ...conclude(scores, { parts: plan(interaction, { scores, matches }), missing }),
        ...(compared.method && { score_methods: { semantic_similarity: compared.method } }),
        ...(compared.differences?.length && { differs_in: compared.differences }),
        ...(annotation && { annotation }),
        ...(verdict && "result" in verdict && { judge: verdict.result }),
      };
    },

    // A score must never rise because the endpoint got worse: a failed turn counts 0 in every score
    // that it would have had, and in the headline even if it would have had none.
    async failed(interaction) {
      const annotation = await metadataReader.plan(interaction);
      const blank = matchMetadata(interaction, { reply: "", generatedMetadata: {}, annotation });
      return {
        ...withMatches(
          sameForAll(interaction.reference_reply === undefined ? null : 0),
          blank.scores,
        ),
        ...(plansJudge && { judge: isJudged(interaction) ? 0 : null }),
        overall: 0,
      };
    },

    // Which keys count is not asked: that may be what scoring failed at.
    unscored(interaction, reason) {
      const ours = sameForAll(null);
      const matches = matchMetadata(interaction, { reply: "-", generatedMetadata: {} });
      const scores: Scores = {
        ...withMatches(ours, matches.scores),
        ...(plansJudge && { judge: null }),
      };
      const names = [
        ...(interaction.reference_reply === undefined ? [] : Object.keys(ours)),
        ...Object.keys(withoutOurs(matches.missing, ours)),
        ...(isJudged(interaction) ? ["judge"] : []),
      ];
      const missing = Object.fromEntries(names.map((name) => [name, reason]));
      return conclude(scores, { parts: plan(interaction, { scores, matches }), missing });
    },
  };
}

/** Adds the headline, and says what is missing. */
function conclude(
  scores: Scores,
  { parts, missing }: { parts: PlannedPart[]; missing: Record<string, string> },
): Pick<Assessment, "scores" | "missing_scores" | "overall_bounds"> {
  const { value, missing: lacking, bounds } = overall(parts);
  const reasons = lacking.length === 0
    ? missing
    : { ...missing, overall: `without ${lacking.join(", ")}` };
  return {
    scores: { ...scores, overall: value },
    ...(Object.keys(reasons).length > 0 && { missing_scores: reasons }),
    ...(bounds && { overall_bounds: bounds }),
  };
}

function changed(planned: string | null, current: string | null): string {
  return `the run was planned with ${planned ?? "none"}, and now ${
    current ?? "none"
  } is configured`;
}

/** Why labels cannot be read as they were planned; the embedder reads them only without a judge. */
function changedLabelling(planned: ScoredBy, current: ScoredBy): string | undefined {
  if (planned.judge !== null) {
    return planned.judge === current.judge ? undefined : changed(planned.judge, current.judge);
  }
  return planned.embeddings === current.embeddings
    ? undefined
    : changed(planned.embeddings, current.embeddings);
}

/**
 * Callers name the metadata keys: the match of one called `exact` must not pass for `exact_match`,
 * and only enters `metadata_match`. Ours stand first for the reader, and once more to win.
 */
function withMatches(ours: Scores, matches: Scores): Scores {
  return { ...ours, ...matches, ...ours };
}

/** The same rule for what is missing. */
function withoutOurs(missing: Record<string, string>, ours: Scores): Record<string, string> {
  return Object.fromEntries(Object.entries(missing).filter(([name]) => !Object.hasOwn(ours, name)));
}

/** Every score that compares with the reference, of one value. */
function sameForAll(value: number | null): Scores {
  const names = [...pairScorers.map(({ name }) => name), "semantic_similarity"];
  return Object.fromEntries(names.map((name) => [name, value]));
}
