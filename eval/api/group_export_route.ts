import { z } from "zod";
import { conflict } from "../../shared/errors.ts";
import { streamPieces } from "../../shared/http/body/json_stream.ts";
import { readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import type { Groups } from "../groups/groups.ts";
import { Detail } from "../results/detail.ts";
import type { RunReader } from "../store/store.ts";
import { groupFormats } from "../export/formats/group_formats.ts";
import { groupSources, whileAllKept } from "../export/group_source.ts";

const Query = z.object({
  format: z.enum(groupFormats.map(({ name }) => name)).default("json"),
  decide_by: z.string().min(1).optional(),
  detail: Detail,
  /** Whether a CSV file begins with a byte order mark, for spreadsheets. */
  bom: z.stringbool().default(true),
});

/** `GET /groups/:id/export`: a group whose runs have ended, as a file. */
export function createGroupExportRoute(
  { groups, store }: { groups: Groups; store: RunReader },
): Handler {
  return async (_request, { params, url }) => {
    const { format: name, decide_by: decideBy, detail, bom } = readQuery(url, Query);
    const { id = "" } = params;
    const format = groupFormats.find((format) => format.name === name)!;
    if ((await groups.view(id)).status === "running") {
      const detail =
        `cannot export group ${id}: it is not finished; wait for its end, or cancel it`;
      throw conflict(detail);
    }
    const report = await groups.report(id, { decideBy });
    const runs = () => groupSources(store, report);
    const pieces = format.write({ report, runs, hasBom: bom, detail });
    return streamPieces(whileAllKept(store, { report, pieces }), {
      "content-type": format.contentType,
      "content-disposition": `attachment; filename="assay-group-${id}.${format.extension}"`,
      "x-content-type-options": "nosniff", // other people's text, never a page of ours
    });
  };
}
