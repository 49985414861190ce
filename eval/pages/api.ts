import { type ApiRequest, request, requestEvents, requestJson } from "../../shared/pages/api.ts";
import type { ServerEvent } from "../../shared/pages/server_events.ts";
import type { RunList } from "../api/run_schemas.ts";
import type { EndpointModel } from "../endpoint/endpoint_models.ts";
import type { Parameters, Source } from "./source.ts";

function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

const runPath = (id: string) => `/runs/${encodeURIComponent(id)}`;

/** Scores are described once: they do not change while the service runs. */
function once<T>(path: string): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    known ??= requestJson<T>(path);
    known.catch(() => known = undefined);
    return known;
  };
}

/** The service of this page. */
export const service: Source = {
  isLive: true,
  run: (id) => requestJson(address(runPath(id), { result: "false" })),
  summary: (id) => requestJson(`${runPath(id)}/summary`),
  scenarios: (id, parameters) => requestJson(address(`${runPath(id)}/scenarios`, parameters)),
  turns: (id, parameters) => requestJson(address(`${runPath(id)}/turns`, parameters)),
  turn: (id, place) => requestJson(`${runPath(id)}/turns/${place}`),
  scores: once("/scores"),
  selfTest: once("/scores/self-test"),
  comparison: (parameters) => requestJson(address("/runs/compare", parameters)),
  pairedScenarios: (parameters) => requestJson(address("/runs/compare/scenarios", parameters)),
  pairedTurns: (parameters) => requestJson(address("/runs/compare/turns", parameters)),
};

export function listRuns(parameters: Parameters, signal?: AbortSignal): Promise<RunList> {
  return requestJson(address("/runs", parameters), { ...(signal && { signal }) });
}

export async function cancelRun(id: string): Promise<void> {
  await request(`${runPath(id)}/cancel`, { method: "POST" });
}

export async function retryRun(id: string): Promise<string> {
  const { run_id } = await requestJson<{ run_id: string }>(`${runPath(id)}/retry`, {
    method: "POST",
  });
  return run_id;
}

export async function deleteRun(id: string): Promise<void> {
  await request(runPath(id), { method: "DELETE" });
}

/** Starts a run that goes on without this page. */
export async function startRun(body: unknown): Promise<string> {
  const { run_id } = await requestJson<{ run_id: string }>("/evaluate", {
    method: "POST",
    body,
    headers: { prefer: "respond-async" },
  });
  return run_id;
}

export async function listModels(endpoint: string): Promise<EndpointModel[]> {
  const answer = await requestJson<{ models: EndpointModel[] }>(address("/models", { endpoint }));
  return answer.models;
}

/** The events of a run after the turn with the number `seq`. */
export function followRun(
  id: string,
  { seq, signal }: { seq: number; signal: AbortSignal },
): AsyncGenerator<ServerEvent> {
  const options: ApiRequest = { signal, headers: { "last-event-id": String(seq) } };
  return requestEvents(`${runPath(id)}/events`, options);
}

/** Fetches a file with the person's key and hands it to the browser. */
export async function downloadExport(
  id: string,
  { format, baseline }: { format: string; baseline?: string | undefined },
): Promise<void> {
  const response = await request(address(`${runPath(id)}/export`, { format, baseline }));
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  const url = URL.createObjectURL(await response.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: name ?? "" });
  link.click();
  URL.revokeObjectURL(url);
}
