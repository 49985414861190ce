import { untilAbort } from "../../../shared/service/waiting.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { type ListedModel, routeModel } from "../../../shared/providers/provider.ts";
import type { Model, ModelList } from "../schemas/chat_completion.ts";
import { explainHidden, type Models } from "../../core/models/models.ts";

/** How many hidden ids are shown: a hub may list thousands. */
const MAX_HIDDEN = 100;

/** How long the answer waits for the studio's list; the hub's own list has the same limit. */
const STUDIO_WAIT_MS = 5_000;

/**
 * The body of `GET /v1/models`: fine-tuned models by UUID, then the hub's, if it lists them. If the
 * studio's list cannot be read, or not in time, the hub's models are listed alone; without any, the
 * error is thrown.
 */
export async function listModels(
  models: Models,
  { signal, needsStudio = false, studioWaitMs = STUDIO_WAIT_MS }: {
    signal: AbortSignal;
    /** Throws if the studio's list cannot be read, instead of leaving its models out. */
    needsStudio?: boolean;
    studioWaitMs?: number;
  },
): Promise<ModelList> {
  const { models: hub, hidden, error } = await models.listHub(signal);
  const isOptional = hub.length > 0 && !needsStudio;
  // A list that arrives later is kept for the next call.
  const late = isOptional ? AbortSignal.timeout(studioWaitMs) : undefined;
  const studio = await untilAbort(models.listStudio(signal), late).catch((error) => {
    if (!isOptional || signal.aborted) throw error;
    return {};
  });
  const toEntry = (
    { id, name, shutdownDate }: ListedModel,
    owner: string,
  ): Model => ({
    id,
    object: "model",
    created: 0, // unknown, but clients expect a number
    owned_by: owner,
    name,
    shutdown_date: shutdownDate,
  });
  return {
    object: "list",
    data: [
      ...Object.entries(studio).map(([name, id]) => toEntry({ id, name }, "studio")),
      ...hub.map((model) => toEntry(model, ownerOf(model.id))),
    ],
    diagnostics: hidden.length > 0
      ? { hub: error, hidden_models: hidden.slice(0, MAX_HIDDEN), reason: explainHidden(hidden) }
      : error
      ? { hub: error }
      : undefined,
  };
}

/**
 * The body of `GET /v1/models/{id}`. `path` is the id as it was sent: clients encode its slash, people
 * do not. Throws 404 if the model is in no list, and 502 if the list of a fine-tuned one cannot be
 * read.
 */
export async function findModel(
  models: Models,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<Model> {
  const id = decodePath(path);
  const isTuned = (text: string) => routeModel(text).target === "studio";
  const { data } = await listModels(models, { signal, needsStudio: isTuned(id) });
  // A UUID means the same in any letter case.
  const toKey = (text: string) => isTuned(text) ? text.toLowerCase() : text;
  const found = data.find((model) => toKey(model.id) === toKey(id));
  if (found) return found;
  throw new AppError(
    404,
    "model_not_found",
    `cannot find model ${JSON.stringify(id.slice(0, 100))}: GET /v1/models does not list it`,
  );
}

/** A bare id names no provider: its owner is the hub. */
function ownerOf(id: string): string {
  const [provider, model] = id.split("/");
  return provider && model !== undefined ? provider : "hub";
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a lone % is part of the id
  }
}
