import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Interaction, Scenario } from "../../test/scenario.ts";
import type { Assessment, ReplyCircumstances } from "../assessment.ts";
import type { BatchSemantics } from "../batch_semantics.ts";
import type { RunChecks } from "../content_checks.ts";
import type { JudgeModel } from "../judge_model.ts";
import type { AskScorer, ScoringPorts } from "../scoring_ports.ts";
import type { PairComparer } from "./lexical/pair_scores.ts";
import type { WebhookScorer } from "../../test/evaluate_request.ts";
import type { ScoreDescription } from "../score.ts";

/** An entry of the table in `../scorers.ts`: one score, or several that are computed together. */
export interface Scorer {
  /** The entries in `GET /scores`. */
  describe(ports: ScoringPorts): ScoreDescription[];
  /** The scorer of one batch; `undefined` if the batch does not have these scores. */
  forBatch(batch: ScoredBatch): TurnScorer | undefined;
}

/** What scorers may use. Nothing here depends on a reply. */
export interface ScoredBatch {
  scenarios: Scenario[];
  /** The caller's own; the judge has a default. */
  rubric: string | undefined;
  votes: number;
  pairs: PairComparer;
  checks: RunChecks;
  semantics: BatchSemantics;
  /** Whether the run was planned with a judge. */
  plansJudge: boolean;
  /** The judge that the run was planned with, if it is still configured. */
  judge: JudgeModel | undefined;
  /** The caller's own services, and how they are asked. */
  webhooks: WebhookScorer[];
  askScorer: AskScorer;
  /** In a run that scores again: what differs from the measure of the run before. */
  rescored: ReadonlySet<string>;
  /** Set if the configuration differs from that of the run's plan; says how. */
  changed: { judge?: string | undefined; embeddings?: string | undefined };
  signal: AbortSignal;
  /** Called if a label cannot be read, with the first error of each kind. */
  onLabelFailure?: ((error: unknown) => void) | undefined;
}

/** A reply and the turn that it answers. */
export interface RepliedTurn {
  interaction: Interaction;
  reply: string;
  /** The batch's judge; what it costs counts for this turn. */
  judge: JudgeModel | undefined;
}

/** Everything that a score may use. */
export interface ScoreInput extends RepliedTurn, ReplyCircumstances {}

/** Why nothing is known of a reply but its text. */
export const NOT_ASKED =
  "the reply existed before the run: its latency, tokens and tool calls are not known";

/** For each score, whether it applies to the turn. */
type ScorePlan = Record<string, boolean>;

/** A score of a reply. */
export interface ScoreEntry {
  /** In [0, 1]; `null` if it does not apply to the turn or is missing; unset for what is no score. */
  value?: number | null | undefined;
  /** Why a planned score is missing. */
  reason?: string | undefined;
  /** How it was computed, if there are several ways. */
  method?: string | undefined;
}

/** The result of a scorer for one reply. */
export interface ScorerResult {
  scores: Record<string, ScoreEntry>;
  /** Further fields of the turn's result. */
  fields?: Partial<
    Omit<
      Assessment,
      "scores" | "score_methods" | "missing_scores" | "judge_cost"
    >
  >;
  /** The similarity alone does not show whether the reply is right; see `isName`. */
  isNearnessToName?: true;
  /** Whether a repeatable result may be remembered. If unset, it may if nothing is missing. */
  isLasting?: boolean;
}

interface PlannedScorer {
  /** In a run that scores again: the result that is taken over; `undefined` if there is none. */
  keep?(interaction: Interaction, earlier: InteractionResult): ScorerResult | undefined;
  /** Whether callers choose the names of scores. These never replace those of other scorers. */
  readonly hasCallersNames?: boolean;
  /** Depends on the turn only, so that no reply can change which scores apply. */
  plan(interaction: Interaction): ScorePlan;
  /** More exact, if that needs the batch: for example, which keys can be labelled. */
  learnPlan?(interaction: Interaction): Promise<ScorePlan>;
}

/** Scores the replies of one batch. */
export type TurnScorer = RepeatableScorer | FreshScorer;

/** A scorer that gives the same result for the same reply to the same turn. */
export interface RepeatableScorer extends PlannedScorer {
  readonly isRepeatable: true;
  score(turn: RepliedTurn): ScorerResult | Promise<ScorerResult>;
}

/** A scorer whose results are not remembered, such as a judge or a check of the latency. */
interface FreshScorer extends PlannedScorer {
  readonly isRepeatable?: false;
  score(input: ScoreInput): ScorerResult | Promise<ScorerResult>;
}
