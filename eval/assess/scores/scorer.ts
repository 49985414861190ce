import type { Interaction, Scenario } from "../../schemas/scenario.ts";
import type { Scores } from "../../schemas/statistics.ts";
import type { Assessment, ReplyCircumstances } from "../assessment.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { ContentChecks } from "../checks/content_checks.ts";
import type { JudgeModel } from "../judge/model.ts";
import type { AskScorer, ScoringPorts } from "../scoring_ports.ts";
import type { PairComparer } from "./lexical/pair_scores.ts";
import type { WebhookScorer } from "../../schemas/evaluate_request.ts";
import type { Bounds, ScoreDescription } from "./score.ts";

/** One line of the table in `scorers.ts`: one score, or several that are computed together. */
export interface Scorer {
  /** What `GET /scores` says about its scores. */
  describe(ports: ScoringPorts): ScoreDescription[];
  /** The same for one batch; `undefined` if the batch does not have these scores at all. */
  forBatch(batch: ScoredBatch): TurnScorer | undefined;
}

/** What a scorer may use of a batch. Nothing here depends on a reply. */
export interface ScoredBatch {
  scenarios: Scenario[];
  /** The caller's own; the judge has a default. */
  rubric: string | undefined;
  votes: number;
  pairs: PairComparer;
  checks: ContentChecks;
  semantics: BatchSemantics;
  /** Whether the run was planned with a judge. */
  plansJudge: boolean;
  /** The judge that the run was planned with, if it is still configured. */
  judge: JudgeModel | undefined;
  /** The caller's own services, and how they are asked. */
  webhooks: WebhookScorer[];
  askScorer: AskScorer;
  /** What the run was planned with and is configured differently now, each with the reason. */
  changed: { judge?: string | undefined; embeddings?: string | undefined };
  signal: AbortSignal;
  /** Called if a label cannot be read, with the first error of each kind. */
  onLabelFailure?: ((error: unknown) => void) | undefined;
}

/** A reply and the turn that it answers. */
export interface RepliedTurn {
  interaction: Interaction;
  reply: string;
}

/** Everything that a score may look at. */
export interface ScoreInput extends RepliedTurn, ReplyCircumstances {}

/** For each score, whether the turn should have it. A score that does not apply is `false`. */
type ScorePlan = Record<string, boolean>;

/** What a scorer says about one reply. */
export interface ScorerResult {
  /** In [0, 1]; `null`: it does not apply to the turn, or it is in `missing`. */
  scores: Scores;
  /** Planned scores without a value, each with the reason. */
  missing?: Record<string, string>;
  /** Where a missing score may lie, if that is known better than [0, 1]. */
  bounds?: Record<string, Bounds>;
  /** How a score was computed, if there are several ways. */
  methods?: Record<string, string>;
  /** Further fields of the turn's result. */
  fields?: Partial<
    Omit<
      Assessment,
      "scores" | "score_methods" | "missing_scores" | "overall_bounds" | "judge_cost"
    >
  >;
  /** Whether the similarity alone does not tell if the reply is right; see `isName`. */
  isNearnessToName?: true;
  /** Whether a repeatable outcome may be remembered. If unset: if nothing is missing. */
  isLasting?: boolean;
}

interface PlannedScorer {
  /** Whether callers choose names of scores. Such a name never replaces another scorer's. */
  readonly hasCallersNames?: boolean;
  /** Depends on the turn alone, so that no reply can change what it is scored by. */
  plan(interaction: Interaction): ScorePlan;
  /** The same, more exactly, if that needs the batch: for example which keys can be labelled. */
  learnPlan?(interaction: Interaction): Promise<ScorePlan>;
}

/** Scores the replies of one batch. */
export type TurnScorer = RepeatableScorer | FreshScorer;

/** A scorer that says the same about the same reply to the same turn. */
export interface RepeatableScorer extends PlannedScorer {
  readonly isRepeatable: true;
  score(turn: RepliedTurn): ScorerResult | Promise<ScorerResult>;
}

/** A scorer that is asked about every reply, such as a judge, or a score of the latency. */
interface FreshScorer extends PlannedScorer {
  readonly isRepeatable?: false;
  score(input: ScoreInput): ScorerResult | Promise<ScorerResult>;
}
