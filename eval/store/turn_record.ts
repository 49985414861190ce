import { AgreementLabel, type InteractionResult } from "../test/interaction_result.ts";
import { z } from "zod";
import { agreementOf, hasWrongTools, isBarring, isContradicting } from "../test/barred.ts";
import { Scores } from "../test/statistics.ts";
import { FAILED_LABEL, labelKey, NO_LABEL } from "../test/labels.ts";

/** A turn that is over: answered and scored, or failed. */
export interface StoredTurn extends TurnPosition {
  result: InteractionResult;
  /** The time from the question to the scores. */
  tookMs: number;
}

/** A turn for the events. `seq` grows with every turn of its run, in the order of storing. */
export interface TurnEvent extends TurnPosition {
  seq: number;
  /** The `InteractionResult` as JSON text, which is passed on without parsing. */
  resultJson: string;
}

/** A turn as it is stored. */
export interface TurnText extends TurnPosition {
  tookMs: number;
  /** The `InteractionResult` as JSON text, which is passed on without parsing. */
  resultJson: string;
}

/** The position of an attempt in the batch, counted from 0. */
export interface AttemptPosition {
  scenario: number;
  attempt: number;
}

/** The position of a turn in the batch, counted from 0. */
export interface TurnPosition extends AttemptPosition {
  turn: number;
}

/** The position as text, for maps and sets. */
export function turnKey({ scenario, attempt, turn }: TurnPosition): string {
  return `${scenario}/${attempt}/${turn}`;
}

/** A label that a turn's reference carries, and the one found in its reply, by `labelKey`. */
const FacetLabel = z.object({ expected: z.string(), found: z.string() });

/**
 * What turns are listed, filtered and sorted by: a turn without its texts. It is stored beside each
 * turn, because a run of 10,000 turns has tens of megabytes of texts. `tokens` is the total.
 */
export const TurnFacets = z.object({
  id: z.string(),
  scores: Scores,
  labels: z.record(z.string(), FacetLabel),
  error: z.string().optional(),
  differs_in: z.array(z.string()).optional(),
  agreement: AgreementLabel.optional(),
  /** Why the turn cannot pass: required checks that failed, `tools`, `agreement`. */
  barred_by: z.array(z.string()).min(1).optional(),
  latency_ms: z.number().nullable(),
  tokens: z.number().nullable(),
});
export type TurnFacets = z.infer<typeof TurnFacets>;

const LONGEST_NAME = 256;

/**
 * A name as the facets have it. PostgreSQL's JSON has neither NUL nor half of a surrogate pair, and
 * a label may be as long as its caller likes.
 */
export function facetName(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll("\0", "\uFFFD").toWellFormed();
}

/** What a list says of a turn, beside its place. */
export function listedParts(result: InteractionResult) {
  return {
    failed: result.error !== undefined,
    missing: result.missing_scores?.overall !== undefined,
    overall: result.scores.overall ?? null,
    facets: readFacets(result),
  };
}

/** The facets of a turn. */
export function readFacets(result: InteractionResult): TurnFacets {
  const { id, scores, error, differs_in, check_results = [] } = result;
  const agreement = agreementOf(result);
  const { latency_ms, usage } = result;
  const barring = check_results.filter(isBarring).map(({ name }) => facetName(name));
  if (hasWrongTools(result)) barring.push("tools");
  if (isContradicting(result)) barring.push("agreement");
  return {
    id: facetName(id),
    scores: Object.fromEntries(
      Object.entries(scores).map(([name, value]) => [facetName(name), value]),
    ),
    labels: readLabels(result),
    ...(error && { error: facetName(error.code) }),
    ...(differs_in && { differs_in: differs_in.map(facetName) }),
    ...(agreement && { agreement }),
    ...(barring.length > 0 && { barred_by: barring }),
    latency_ms,
    tokens: usage?.total_tokens ?? null,
  };
}

function readLabels(
  { error, reference_metadata, generated_metadata }: InteractionResult,
): TurnFacets["labels"] {
  return Object.fromEntries(
    Object.entries(reference_metadata).map(([key, expected]) => {
      const value = Object.hasOwn(generated_metadata, key) ? generated_metadata[key] : undefined;
      const found = value === undefined ? NO_LABEL : facetName(labelKey(value));
      return [facetName(key), {
        expected: facetName(labelKey(expected)),
        found: error ? FAILED_LABEL : found,
      }];
    }),
  );
}
