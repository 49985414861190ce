import { isUnanswered } from "../test/barred.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import type { Scores } from "../test/statistics.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import type { ScoredBy } from "../test/evaluate_response.ts";
import type { TurnPosition } from "../store/turn_record.ts";
import { NO_KEY_MATCH } from "./expectations.ts";
import { isEndpointMethod } from "../score/embeddings_endpoint.ts";
import { FEW_SHOT, JUDGE_LABELS } from "../test/labels.ts";

const PIECE = 200;
const NONE: ReadonlySet<string> = new Set();

/** The fields of a recorded turn that comparing reads. */
export interface ComparedTurn extends TurnPosition {
  result:
    & Pick<InteractionResult, "scores" | "error">
    & Partial<
      Pick<
        InteractionResult,
        | "score_methods"
        | "missing_scores"
        | "annotation"
        | "judge"
        | "check_results"
        | "reference_metadata"
        | "truncated"
      >
    >;
}

export interface AttemptTurn {
  attempt: number;
  /** A failed turn counts 0 in every score that it has in either run. */
  failed: boolean;
  /** Whether it failed because there was no answer. */
  unanswered: boolean;
  /** Whether the reply ends at the token limit. */
  truncated: boolean;
  scores: Scores;
  /** Planned scores that are missing although the turn was answered. */
  missing: ReadonlySet<string>;
  /** How each score was computed, if there are several ways. */
  methods: Record<string, string>;
  /** Names of the scores that `metadata_match` is the mean of; `null` if they are unknown. */
  matches: string[] | null;
}

export interface RunScores {
  /** The attempts of each turn, by the positions of its scenario and itself; with holes. */
  turns: AttemptTurn[][][];
  /** Every score of the run, in the order of its first occurrence. */
  names: Set<string>;
}

/** How a run was scored: if it differs, the methods differ. */
export interface RunScoring {
  /** The rubric of the judge, if the request had one. */
  rubric?: string | undefined;
  /** Unset in runs of old releases. */
  scoredBy?: ScoredBy | undefined;
}

/** Reads a run's turns once and keeps their scores, without the texts. */
export async function readScores(
  turns: AsyncIterable<ComparedTurn>,
  scoring: RunScoring = {},
): Promise<RunScores> {
  const run: RunScores = { turns: [], names: new Set() };
  const pause = createYielder();
  let read = 0;
  for await (const { scenario, attempt, turn, result } of turns) {
    const attempts = (run.turns[scenario] ??= [])[turn] ??= [];
    const found = toAttemptTurn(attempt, result, scoring);
    attempts.push(found);
    for (const name in found.scores) if (isPlanned(found, name)) run.names.add(name);
    if (++read % PIECE === 0) await pause();
  }
  return run;
}

/** Whether a turn has a score, or should have one. */
export function isPlanned({ scores, missing }: AttemptTurn, score: string): boolean {
  return typeof scores[score] === "number" || missing.has(score);
}

/**
 * Missing scores are also inferred from the result, for runs that were stored before
 * `missing_scores` existed: a planned score that is `null` in an answered turn.
 */
function toAttemptTurn(
  attempt: number,
  result: ComparedTurn["result"],
  { rubric, scoredBy }: RunScoring,
): AttemptTurn {
  const { scores, annotation, judge, missing_scores = {} } = result;
  const methods: Record<string, string> = { ...result.score_methods };
  const deciders = decidersOf(result, scoredBy);
  const ofChecks = checksMethod(result, deciders);
  if (ofChecks !== undefined) methods.checks = ofChecks;
  const missing = new Set(Object.keys(missing_scores));
  if (judge) {
    methods.judge = rubric === undefined ? judge.model : `${judge.model}, rubric: ${rubric}`;
    if (scores.judge === null) missing.add("judge");
  }
  const matches: string[] = [];
  for (const key of Object.keys(result.reference_metadata ?? {})) {
    const name = `${key}_match`;
    const note = annotation && Object.hasOwn(annotation.keys, key)
      ? annotation.keys[key]
      : undefined;
    const isPlanned = note?.counts !== false &&
      (note !== undefined || missing.has(name) || typeof scores[name] === "number");
    if (!isPlanned) continue;
    matches.push(name);
    if (note) methods[name] = labelMethod(note.method, deciders);
    if (scores[name] === null) missing.add(name).add("metadata_match");
  }
  const canTell = matches.length > 0 && !matches.some((name) => NO_KEY_MATCH.has(name));
  if (!canTell && annotation) {
    methods.metadata_match = labelMethod(annotation.method, deciders);
  }
  return {
    attempt,
    failed: result.error !== undefined,
    unanswered: isUnanswered(result),
    truncated: result.truncated === true,
    scores,
    missing: missing.size === 0 ? NONE : missing,
    methods,
    matches: canTell ? matches : null,
  };
}

/** The judge and embedder of a turn's labels and checks, as far as they are known. */
interface Deciders {
  judge: string | null;
  embeddings: string | null;
}

/** `scoredBy` is unset in runs of old releases; then the grades name the judge. */
function decidersOf(
  { judge }: Pick<Partial<InteractionResult>, "judge">,
  scoredBy: ScoredBy | undefined,
): Deciders {
  return {
    judge: scoredBy?.judge ?? judge?.model ?? null,
    embeddings: scoredBy?.embeddings ?? null,
  };
}

/** The method of a label, with the judge or the endpoint. */
function labelMethod(method: string, { judge, embeddings }: Deciders): string {
  if (method === JUDGE_LABELS && judge !== null) return `${method} ${judge}`;
  const isByEndpoint = method === FEW_SHOT && embeddings !== null &&
    isEndpointMethod(embeddings);
  return isByEndpoint ? `${method} ${embeddings}` : method;
}

/** The judge and embedder of a turn's checks; `undefined` if no check needs them. */
function checksMethod(
  { check_results = [] }: Pick<Partial<InteractionResult>, "check_results">,
  { judge, embeddings }: Deciders,
): string | undefined {
  const types = new Set(check_results.map(({ type }) => type));
  const by = [
    ...(types.has("judge") && judge !== null ? [`judge ${judge}`] : []),
    ...(types.has("similar") && embeddings !== null ? [`similar by ${embeddings}`] : []),
  ];
  return by.length === 0 ? undefined : by.join(", ");
}
