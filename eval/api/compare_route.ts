import { z } from "zod";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { RunReader } from "../store/store.ts";
import { comparisonInDetail } from "../compare/compared_detail.ts";
import { compareStored } from "../compare/compare_stored.ts";
import { Detail } from "../results/detail.ts";

const Query = z.object({
  baseline: z.string().min(1),
  candidate: z.string().min(1),
  decide_by: z.string().min(1).optional(),
  detail: Detail,
});

/** `GET /runs/compare`: whether one run is better than another. */
export function createCompareRoute({ store }: { store: RunReader }): Handler {
  return async (_request, { url }) => {
    const { baseline, candidate, decide_by: decideBy, detail } = readQuery(url, Query);
    const compared = await compareStored(store, { baseline, candidate }, { decideBy });
    return Response.json(comparisonInDetail(compared, detail));
  };
}
