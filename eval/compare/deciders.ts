import type { ScoredBy } from "../schemas/evaluate_response.ts";
import type { InteractionResult } from "../schemas/interaction_result.ts";
import { isEndpointMethod } from "../assess/embeddings/endpoint.ts";
import { JUDGE_LABELS } from "../assess/judge/labels.ts";
import { VECTOR_LABELS } from "../assess/metadata/few_shot.ts";

/** What decided a turn's labels and checks, as far as it is known. */
interface Deciders {
  judge: string | null;
  embeddings: string | null;
}

/** `scoredBy` is unset in runs of old releases; their grades name the judge too. */
export function decidersOf(
  { judge }: Pick<Partial<InteractionResult>, "judge">,
  scoredBy: ScoredBy | undefined,
): Deciders {
  return {
    judge: scoredBy?.judge ?? judge?.model ?? null,
    embeddings: scoredBy?.embeddings ?? null,
  };
}

/** How a label was read, with the judge or the endpoint that read it. */
export function labelMethod(method: string, { judge, embeddings }: Deciders): string {
  if (method === JUDGE_LABELS && judge !== null) return `${method} ${judge}`;
  const isByEndpoint = method === VECTOR_LABELS && embeddings !== null &&
    isEndpointMethod(embeddings);
  return isByEndpoint ? `${method} ${embeddings}` : method;
}

/** How the checks of a turn were decided; `undefined` if their texts alone decide. */
export function checksMethod(
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
