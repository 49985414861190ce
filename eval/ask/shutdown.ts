import type { EndpointModel, ListEndpointModels } from "./endpoint_models.ts";

const NOTICE_DAYS = 60;
const DAY_MS = 86_400_000;
/** A list that takes longer is not waited for. */
const PATIENCE_MS = 3_000;

/**
 * What to know of a model that its provider shuts down within 60 days, or has shut down by the date
 * of its list (`YYYY-MM-DD`); `undefined` for any other.
 */
export function explainShutdown({ id, shutdown_date: date }: EndpointModel): string | undefined {
  const days = Math.ceil((Date.parse(date ?? "") - Date.now()) / DAY_MS);
  if (!(days <= NOTICE_DAYS)) return undefined;
  if (days < 0) return `the provider's date for the end of the model "${id}" has passed: ${date}`;
  return `the provider shuts down the model "${id}" on ${date}, in ${days} days`;
}

/** A warning of a model's end, by the list of its endpoint; `undefined` if there is none. */
export async function findShutdown(
  list: ListEndpointModels,
  { endpoint, model_id }: { endpoint: string; model_id: string },
): Promise<string | undefined> {
  const { models } = await list(endpoint, AbortSignal.timeout(PATIENCE_MS))
    .catch(() => ({ models: [] })); // then nothing is known
  const model = models.find(({ id }) => id === model_id);
  return model && explainShutdown(model);
}
