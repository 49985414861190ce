import { z } from "zod";
import { list } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import { readQuery } from "../../shared/http/query.ts";
import type { Handler } from "../../shared/http/router.ts";
import type { Groups } from "../groups/groups.ts";
import { groupFormats } from "./group_formats.ts";

const Query = z.object({
  format: z.enum(groupFormats.map(({ name }) => name)).default("json"),
  /** Comma-separated; the headline if it is unset. */
  scores: list(),
  /** Whether a CSV file begins with a byte order mark, for spreadsheets. */
  bom: z.stringbool().default(true),
});

/** `GET /groups/:id/export`: a group whose runs have ended, as a file. */
export function createGroupExportRoute({ groups }: { groups: Groups }): Handler {
  return async (_request, { params, url }) => {
    const { format: name, scores, bom } = readQuery(url, Query);
    const { id = "" } = params;
    const format = groupFormats.find((format) => format.name === name)!;
    if ((await groups.view(id)).status === "running") {
      const detail =
        `cannot export group ${id}: it is not finished; wait for its end, or cancel it`;
      throw new AppError(409, "conflict", detail);
    }
    const report = await groups.report(id, { scores });
    return new Response(format.write(report, { hasBom: bom }), {
      headers: {
        "content-type": format.contentType,
        "content-disposition": `attachment; filename="assay-group-${id}.${format.extension}"`,
        "x-content-type-options": "nosniff", // other people's text, never a page of ours
      },
    });
  };
}
