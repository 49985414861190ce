import {
  type ApiRequest,
  request,
  requestEvents,
  requestJson,
  requestLines,
} from "../../shared/pages/api.ts";
import { saveFile } from "../../shared/pages/save_file.ts";
import type { ServerEvent } from "../../shared/pages/server_events.ts";
import type {
  DatasetList,
  DatasetPreview,
  DatasetVersionList,
  WrittenDataset,
} from "../http/dataset_routes.ts";
import type { LeakCheck, LeakReport } from "../test/leaks.ts";
import type { TurnSearch } from "../http/schemas/turn_schemas.ts";
import type { Run, RunList } from "../http/schemas/run_schemas.ts";
import type { Preference } from "../figures/judge_preference.ts";
import type { EndpointModel } from "../ask/endpoint_models.ts";
import type { Parameters, Source } from "./source.ts";

function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

const runPath = (id: string) => `/runs/${encodeURIComponent(id)}`;

/**
 * `place` is `scenario/attempt_id/turn`, from the address bar. It must not lead to another route: a
 * link with `../../../models?endpoint=…` would have a key sent elsewhere.
 */
export function turnPath(id: string, place: string): string {
  return `${runPath(id)}/turns/${/^\d+\/\d+\/\d+$/.test(place) ? place : "none"}`;
}

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
export const service: Required<Source> = {
  isLive: true,
  run: (id) => requestJson(address(runPath(id), { result: "false" })),
  summary: (id) => requestJson(`${runPath(id)}/summary`),
  async lastRun({ run_id, test_name, group_id, created_at }) {
    const { runs } = await listRuns({ test_name, status: "completed", limit: 20 });
    return runs.find((other) =>
      other.run_id !== run_id && other.created_at < created_at &&
      (group_id === undefined || other.group_id !== group_id)
    ) ?? null;
  },
  scenarios: (id, parameters) => requestJson(address(`${runPath(id)}/scenarios`, parameters)),
  turns: (id, parameters) => requestJson(address(`${runPath(id)}/turns`, parameters)),
  turn: (id, place) => requestJson(turnPath(id, place)),
  scores: once("/scores"),
  selfTest: once("/scores/self-test"),
  comparison: (parameters) => requestJson(address("/compare", parameters)),
  pairedScenarios: (parameters) => requestJson(address("/compare/scenarios", parameters)),
  pairedTurns: (parameters) => requestJson(address("/compare/turns", parameters)),
  agreement: (id, parameters) => requestJson(address(`${runPath(id)}/agreement`, parameters)),
  turnGrades: (id, place) => requestJson(`${turnPath(id, place)}/grades`),
  leaks: (id) => requestJson(`${runPath(id)}/leaks`),
  grades: (id, parameters) => requestJson(address(`${runPath(id)}/grades`, parameters)),
  grade: (id, place, grade) =>
    requestJson(`${turnPath(id, place)}/grade`, { method: "PUT", body: grade }),
  async deleteGrade(id, place, author) {
    await request(address(`${turnPath(id, place)}/grade`, { author }), { method: "DELETE" });
  },
};

/** Has the judge compare the replies of two runs. */
export async function askJudge(ids: { baseline: string; candidate: string }): Promise<Preference> {
  const answer = await requestJson<{ preference: Preference }>("/compare", {
    method: "POST",
    body: ids,
  });
  return answer.preference;
}

export function listRuns(parameters: Parameters, signal?: AbortSignal): Promise<RunList> {
  return requestJson(address("/runs", parameters), { ...(signal && { signal }) });
}

/** The turns of all runs that contain a text, the newest runs first. */
export function searchTurns(text: string, cursor?: string): Promise<TurnSearch> {
  return requestJson(address("/turns", { text, cursor }));
}

/** Renames a run, and gives it tags. */
export function changeRun(
  id: string,
  body: { test_name?: string | undefined; tags: string[] },
): Promise<Run> {
  return requestJson(runPath(id), { method: "PATCH", body });
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

/** Gives the id of the new run. */
export async function rescoreRun(
  id: string,
  body: { rubric: string | undefined; judge: string | undefined },
): Promise<string> {
  const { run_id } = await requestJson<{ run_id: string }>(`${runPath(id)}/rescore`, {
    method: "POST",
    body,
  });
  return run_id;
}

export async function deleteRun(id: string): Promise<void> {
  await request(runPath(id), { method: "DELETE" });
}

/** What started a run. */
export function readRequest(id: string): Promise<Record<string, unknown>> {
  return requestJson(`${runPath(id)}/request`);
}

/** Starts a run, or a group of them, that continues without this page; the address of its view. */
export async function startRun(body: unknown): Promise<string> {
  const answer = await requestJson<{ run_id: string } | { group_id: string }>("/evaluate", {
    method: "POST",
    body,
    headers: { prefer: "respond-async" },
  });
  return "run_id" in answer ? `/ui/runs/${answer.run_id}` : `/ui/compare?group=${answer.group_id}`;
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

/** `parameters` say which runs are compared. */
export async function downloadComparison(parameters: Parameters): Promise<void> {
  await download(address("/compare/export", parameters));
}

const datasetPath = (name: string) => `/datasets/${encodeURIComponent(name)}`;

export function listDatasets(parameters: Parameters): Promise<DatasetList> {
  return requestJson(address("/datasets", parameters));
}

/** The versions of a dataset, newest first, and its tags. */
export function listVersions(name: string): Promise<DatasetVersionList> {
  return requestJson(`${datasetPath(name)}/versions`);
}

/** Compares a version with a training file. */
export function checkLeaks(name: string, version: string, file: File): Promise<LeakReport> {
  return requestJson(address(`${datasetPath(name)}/leaks`, { version, file: file.name }), {
    method: "POST",
    file: { content: file, type: "application/jsonl" },
  });
}

export function listLeakChecks(name: string, version: string): Promise<{ checks: LeakCheck[] }> {
  return requestJson(address(`${datasetPath(name)}/leaks`, { version }));
}

export async function tagDataset(name: string, tags: string[]): Promise<void> {
  await request(datasetPath(name), { method: "PATCH", body: { tags } });
}

/** The scenarios of a version, each as JSON, as they arrive. */
export function datasetLines(name: string, version?: string): AsyncGenerator<string> {
  return requestLines(address(datasetPath(name), { version, format: "jsonl" }));
}

/** Writes a version from a file of any format; `parameters` name its format and columns. */
export function putDataset(
  name: string,
  file: NonNullable<ApiRequest["file"]>,
  parameters: Parameters = {},
): Promise<WrittenDataset> {
  return requestJson(address(datasetPath(name), parameters), { method: "PUT", file });
}

/** What a file would become. */
export function previewDataset(
  content: Blob | string,
  parameters: Parameters,
): Promise<DatasetPreview> {
  const file = { content, type: "application/octet-stream" };
  return requestJson(address("/datasets", parameters), { method: "POST", file });
}

/** All versions, or one. */
export async function deleteDataset(name: string, version?: string): Promise<void> {
  await request(address(datasetPath(name), { version }), { method: "DELETE" });
}

export async function downloadDataset(
  name: string,
  { version, format }: { version?: string | undefined; format: "json" | "jsonl" },
): Promise<void> {
  const response = await request(address(datasetPath(name), { version, format }));
  saveFile(`${name}.${format}`, await response.blob());
}

/** Fetches a file with the person's key and hands it to the browser. */
export async function downloadExport(id: string, format: string): Promise<void> {
  await download(address(`${runPath(id)}/export`, { format }));
}

/** Replies of a run as training data; says how many rows it has, and which turns are not in it. */
export async function downloadTraining(
  id: string,
  format: string,
): Promise<{ rows: number; leftOut: string }> {
  const { headers } = await download("/runs/export", {
    method: "POST",
    body: { run_ids: [id], format },
  });
  const rows = Number(headers.get("x-training-rows"));
  return { rows, leftOut: headers.get("x-training-left-out") ?? "" };
}

async function download(path: string, options: ApiRequest = {}): Promise<Response> {
  const response = await request(path, options);
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  saveFile(name ?? "", await response.blob());
  return response;
}
