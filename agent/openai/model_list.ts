import type { Models } from "../models.ts";

/** The body of `GET /v1/models`: fine-tuned models by UUID, then the hub's where it lists them. */
export async function listModels(models: Models, signal: AbortSignal) {
  const [studio, hub] = await Promise.all([models.listStudio(signal), models.listHub(signal)]);
  const toEntry = (id: string, { name, owner }: { name: string; owner: string }) => ({
    id,
    object: "model",
    created: 0, // unknown, and clients want a number
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
