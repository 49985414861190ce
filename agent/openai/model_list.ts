import type { Models } from "../models/models.ts";

/**
 * The body of `GET /v1/models`: fine-tuned models by UUID, then the hub's, if it lists them. If the
 * studio's list cannot be read, the hub's models are listed alone; without any, the error is thrown.
 */
export async function listModels(models: Models, signal: AbortSignal) {
  const hub = await models.listHub(signal);
  const studio = await models.listStudio(signal).catch((error) => {
    if (hub.length === 0 || signal.aborted) throw error;
    return {};
  });
  const toEntry = (id: string, { name, owner }: { name: string; owner: string }) => ({
    id,
    object: "model",
    created: 0, // unknown, but clients expect a number
    owned_by: owner,
    name,
  });
  return {
    object: "list",
    data: [
      ...Object.entries(studio).map(([name, id]) => toEntry(id, { name, owner: "studio" })),
      ...hub.map(({ id, name }) => toEntry(id, { name, owner: id.split("/")[0] ?? "hub" })),
    ],
  };
}
