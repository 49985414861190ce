import { z } from "zod";
import { list } from "../../shared/config/config.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import { HEADLINE } from "../results/passing.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/turns/whole_reader.ts";
import { splitNoise } from "../noise/noise.ts";
import { planPower } from "../noise/power.ts";
import { requireRun } from "../store/runs/require_run.ts";

/** The query of `GET /runs/{id}/noise`; `scores` are comma-separated. */
const NoiseQuery = z.object({ scores: list() });

/** The query of `GET /runs/{id}/power`. */
const PowerQuery = z.object({
  difference: z.coerce.number().gt(0).max(1),
  score: z.string().min(1).default(HEADLINE),
});

/** The handlers of the routes about the noise of one run; also of one that is running. */
export function createNoiseHandlers({ store }: { store: RunReader }) {
  return {
    noise: async (_request, { params, url }) => {
      const { scores } = readQuery(url, NoiseQuery);
      const run = await requireRun(store, params.id ?? "");
      using _kept = store.keep(run.id);
      return Response.json(await splitNoise(run.id, turnsSoFar(store, run), { scores }));
    },

    power: async (_request, { params, url }) => {
      const question = readQuery(url, PowerQuery);
      const run = await requireRun(store, params.id ?? "");
      using _kept = store.keep(run.id);
      return Response.json(await planPower(run.id, turnsSoFar(store, run), question));
    },
  } satisfies Record<string, Handler>;
}
