import { z } from "zod";
import { list } from "../../shared/config/config.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { RunReader } from "../store/store.ts";
import { compareStored } from "../compare/compare_stored.ts";

const Query = z.object({
  baseline: z.string().min(1),
  candidate: z.string().min(1),
  /** Comma-separated; all that both runs have if it is unset. */
  scores: list(),
});

/** `GET /runs/compare`: whether one run is better than another. */
export function createCompareRoute({ store }: { store: RunReader }): Handler {
  return async (_request, { url }) => {
    const { baseline, candidate, scores } = readQuery(url, Query);
    return Response.json(await compareStored(store, { baseline, candidate }, { scores }));
  };
}
