import { z } from "zod";
import {
  readBodyPieces,
  readParams,
  readQuery,
  UPLOAD_TIMEOUT_MS,
} from "../../shared/http/body.ts";
import type { Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import { DatasetName, requireVersion, VersionBeginning } from "../test/datasets/find_version.ts";
import { checkLeaks, viewCheck } from "../figures/check_leaks.ts";
import { readRunLeaks } from "../figures/run_leaks.ts";
import { LeakCheck, LeakReport, RunLeaks } from "../test/leaks.ts";
import { requireRun } from "../store/require_run.ts";
import type { RunStore } from "../store/store.ts";
import { BAD_QUERY, runPath, WRITE_PROBLEMS } from "./route_parts.ts";

const LeakCheckList = z.object({ checks: z.array(LeakCheck) }).meta({ id: "LeakCheckList" });

const path = z.object({ name: DatasetName.meta({ description: "The dataset." }) });
const version = VersionBeginning.optional().meta({
  description: "A version, or its first characters; the latest if it is unset.",
});
const VersionQuery = z.object({ version });
const CheckQuery = z.object({
  version,
  file: z.string().max(200).optional().meta({ description: "The name of the file, to show." }),
});
/** The largest training file. */
const MOST_BYTES = 256 * 1024 * 1024;
const LINES = z.string().meta({ description: "One row per line." });
const EXAMPLE = { messages: [{ role: "user", content: "Hello!" }] };
const NOT_FOUND = { 404: "`not_found`: there is no such dataset, or no such version" };

export function createLeakRoutes({ store, scoring }: {
  store: RunStore;
  scoring: Pick<ScoringPorts, "embedder">;
}): Route[] {
  return [
    {
      method: "POST",
      path: "/datasets/:name/leaks",
      summary: "Which scenarios of a dataset does a training file have?",
      params: { path, query: CheckQuery },
      files: { "application/jsonl": { schema: LINES, example: JSON.stringify(EXAMPLE) } },
      answers: {
        200: jsonAnswer("Each scenario with the text that is nearest to it.", LeakReport),
      },
      problems: {
        400: "`invalid_request`: the file cannot be used, and `errors` names its line; or a " +
          "parameter does not fit",
        ...NOT_FOUND,
        415: "`unsupported_media_type`: the content-encoding is neither gzip nor identity",
        ...WRITE_PROBLEMS,
      },
      async handler(request, { params, url }) {
        const { name } = readParams(params, path);
        const { version, file = "" } = readQuery(url, CheckQuery);
        const found = await requireVersion(store, { name, version });
        const report = await checkLeaks(store, found, {
          pieces: readBodyPieces(request, {
            maxBytes: MOST_BYTES,
            timeoutMs: UPLOAD_TIMEOUT_MS,
            setting: "of a training file",
          }),
          file,
          embedder: scoring.embedder,
          signal: request.signal,
        });
        return Response.json(report);
      },
    },
    {
      method: "GET",
      path: "/datasets/:name/leaks",
      summary: "The training files that a dataset was checked against",
      params: { path, query: VersionQuery },
      answers: { 200: jsonAnswer("The last one first.", LeakCheckList) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      async handler(_request, { params, url }) {
        const { name } = readParams(params, path);
        const found = await requireVersion(store, { name, ...readQuery(url, VersionQuery) });
        const checks = await store.leakChecks(found.version);
        return Response.json({ checks: checks.map((check) => viewCheck(found.version, check)) });
      },
    },
    {
      method: "GET",
      path: "/runs/:id/leaks",
      summary: "The score of a run without the scenarios that training files have",
      params: { path: runPath },
      answers: { 200: jsonAnswer("Two means, and what was checked.", RunLeaks) },
      problems: { 404: "`not_found`: there is no such run" },
      async handler(_request, { params }) {
        return Response.json(await readRunLeaks(store, await requireRun(store, params.id ?? "")));
      },
    },
  ];
}
