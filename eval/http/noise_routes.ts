import { z } from "zod";
import type { Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { RunNoise } from "../test/noise.ts";
import { planPower, RunPower } from "../figures/power.ts";
import type { RunReader } from "../store/store.ts";
import { described, runPath } from "./route_parts.ts";
import { list } from "../../shared/service/config.ts";
import { readQuery } from "../../shared/http/body.ts";
import { HEADLINE } from "../figures/passing.ts";
import { turnsSoFar } from "../store/whole_reader.ts";
import { splitNoise } from "../figures/noise.ts";
import { requireRun } from "../store/require_run.ts";

const PROBLEMS = {
  400: "`invalid_request`: a parameter does not fit, or the run does not have the score",
  404: "`not_found`: there is no such run",
};

const NoiseQuery = z.object({
  scores: described(list(), "By commas; `overall` and `judge` if it is unset."),
});

const PowerQuery = z.object({
  difference: z.coerce.number().gt(0).max(1).meta({
    description: "The difference of two means that should be found.",
  }),
  score: described(z.string().min(1).default(HEADLINE), "`overall` if it is unset."),
});

/**
 * The routes about the noise in a run's scores, and how many scenarios are needed; also of a run
 * that is running.
 */
export function createNoiseRoutes({ store }: { store: RunReader }): Route[] {
  return [
    {
      method: "GET",
      path: "/runs/:id/noise",
      summary: "Whose noise it is: scenarios, the model or the judge",
      params: { path: runPath, query: NoiseQuery },
      answers: { 200: jsonAnswer("Variance components, and what halves the error.", RunNoise) },
      problems: PROBLEMS,
      handler: async (_request, { params, url }) => {
        const { scores } = readQuery(url, NoiseQuery);
        const run = await requireRun(store, params.id ?? "");
        return Response.json(await splitNoise(run.id, turnsSoFar(store, run), { scores }));
      },
    },
    {
      method: "GET",
      path: "/runs/:id/power",
      summary: "How many scenarios would show a difference",
      index: { query: "difference=0.02" },
      params: { path: runPath, query: PowerQuery },
      answers: { 200: jsonAnswer("The number of scenarios, with 80 % power.", RunPower) },
      problems: PROBLEMS,
      handler: async (_request, { params, url }) => {
        const question = readQuery(url, PowerQuery);
        const run = await requireRun(store, params.id ?? "");
        return Response.json(await planPower(run.id, turnsSoFar(store, run), question));
      },
    },
  ];
}
