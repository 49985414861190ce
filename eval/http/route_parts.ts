import { createHash } from "node:crypto";
import { AppError, invalidParameter } from "../../shared/service/errors.ts";
import { readApiKey } from "../../shared/http/guards.ts";
import type { RequestContext } from "../../shared/http/router.ts";
import type { IdempotencyKey } from "../store/store.ts";
import { z } from "zod";
import { orEvents } from "../../shared/service/ops/api_description.ts";
import { Detail } from "../figures/detail.ts";
import type { Selection } from "../figures/compare_stored.ts";
import { MAX_TARGETS } from "../test/evaluate_request.ts";

// What several tables of routes have in common. A schema of parameters validates them, types them
// and describes them in `/openapi.json`.

/** The largest value that PostgreSQL compares with a column of the type `integer`. */
export const LARGEST_INTEGER = 2 ** 31 - 1;

export const Position = z.coerce.number<string>().int().min(0).max(LARGEST_INTEGER);
export const AttemptId = z.coerce.number<string>().int().min(1).max(LARGEST_INTEGER);
export const Share = z.coerce.number().min(0).max(1);

/** A parameter with a default, which its description names; `shown` is how it is documented. */
export function described<T extends z.ZodType>(
  schema: T,
  description: string,
  shown: { type?: "boolean" | "string"; enum?: string[] } = {},
): T {
  return schema.meta({ description, override: { default: undefined, ...shown } });
}

/** A parameter that is on or off; `fallback` if it is unset. */
export function flag(fallback: boolean, description: string) {
  return described(z.stringbool().default(fallback), description, { type: "boolean" });
}

export const runPath = z.object({ id: z.string().meta({ description: "The run." }) });

/** The parameter of answers that can be brief or full. */
export const detail = Detail.meta({
  description: "`full`: also spreads, p-values, and the method.",
});

/** The query of a route that has no other. */
export const DetailQuery = z.object({ detail });

/** The smallest difference that matters. */
export const min_difference = z.coerce.number().min(0).max(1).optional().meta({
  description: "The smallest difference that matters: then `equal_enough` is a verdict, too.",
});

export const decide_by = z.string().min(1).optional().meta({
  description: "The score that decides; `overall` if it is unset.",
});

export const turnPath = runPath.extend({
  scenario: z.string().pipe(Position).meta({ description: "Its position in the batch, from 0." }),
  attempt: z.string().pipe(AttemptId).meta({ description: "Its `attempt_id`, from 1." }),
  turn: z.string().pipe(Position).meta({
    description: "Its position in the conversation, from 0.",
  }),
});

/** The parameters of a list that is read in pages of `usual` entries, and of `most` at most. */
export function paging<T extends z.ZodType>(
  cursor: T,
  { usual, most, description = `${usual} if unset.` }: {
    usual: number;
    most: number;
    description?: string;
  },
) {
  return {
    cursor: cursor.optional().meta({ description: "The `next_cursor` of the page before." }),
    limit: described(z.coerce.number().int().min(1).max(most).default(usual), description),
  };
}

export const BAD_QUERY = { 400: "`invalid_request`: a parameter does not fit" };

/** The problems of a route that writes to the storage. */
export const WRITE_PROBLEMS = {
  503: "`shutting_down`, `overloaded`, `storage_busy`, `storage_unavailable`",
  507: "`storage_full`",
};

export const bom = described(
  z.stringbool().default(true),
  "`off`: CSV without the byte order mark that spreadsheets need.",
  { type: "string", enum: ["on", "off"] },
);

const CtrfReport = z.object({
  reportFormat: z.literal("CTRF"),
  specVersion: z.string(),
  results: z.looseObject({}),
}).meta({ id: "CtrfReport" });

/** An export. Files of the formats `json` and `ctrf` have a schema; those of others are text. */
export function fileAnswer(formats: readonly { contentType: string }[], json: z.ZodType) {
  const jsonFile = z.union([json, CtrfReport]);
  return {
    description: "The file.",
    headers: z.object({ "content-disposition": z.string() }),
    content: Object.fromEntries(formats.map(({ contentType }) => {
      const [type = ""] = contentType.split(";");
      return [type, { schema: type === "application/json" ? jsonFile : z.string() }];
    })),
  };
}

/** The header of a client that reconnects to a stream of events. */
export const lastEventId = z.object({
  "last-event-id": z.string().optional().meta({
    description: "The last event that came: the stream goes on after it.",
  }),
});

/** The runs of a comparison; see `selectionOf`. */
export const selected = {
  runs: z.string().min(1).optional().meta({
    description: "Ids of runs, by commas; a baseline comes before its candidate.",
  }),
  group: z.string().min(1).optional().meta({
    description: "Instead: the runs of a request that named several models.",
  }),
  baseline: z.string().min(1).optional().meta({
    description: "Instead, with `candidate`: the first of two runs.",
  }),
  candidate: z.string().min(1).optional().meta({ description: "The second of two runs." }),
};

/** The runs that a query names. Throws 400 unless it names some in exactly one way. */
export function selectionOf(
  { runs, group, baseline, candidate }: {
    [name in keyof typeof selected]?: string | undefined;
  },
): Selection {
  const isPair = baseline !== undefined && candidate !== undefined;
  const ids = isPair ? [baseline, candidate] : runs?.split(",").map((id) => id.trim()) ?? [];
  const ways = [runs, group, baseline ?? candidate].filter((way) => way !== undefined).length;
  if (ways !== 1 || (group === undefined && ids.length === 0)) {
    throw invalidParameter("runs", "name runs, or a group, or baseline and candidate");
  }
  if (ids.length > MAX_TARGETS) throw invalidParameter("runs", `at most ${MAX_TARGETS} runs`);
  return group === undefined ? { runs: ids } : { group };
}

/** Two runs. */
export const comparedRuns = {
  baseline: z.string().min(1).meta({ description: "The run that is compared with." }),
  candidate: z.string().min(1).meta({ description: "The run that may be better." }),
};

/** The answers of a route that sends events; `events` describes them. */
export function eventAnswers(events: string) {
  return {
    200: orEvents({ description: "The events." }, events),
    204: { description: "Everything was sent already: do not reconnect." },
  };
}

const MAX_KEY_LENGTH = 255;

/** The header of a request that may be sent again. */
export const idempotencyKey = z.object({
  "idempotency-key": z.string().max(MAX_KEY_LENGTH).optional().meta({
    description: "For 24 hours the same key with the same body is the same run.",
  }),
});

/**
 * The `Idempotency-Key` of a request, with a digest of its body. Keys are separate per API key: two
 * callers may use the same one. Throws 400 `invalid_request` if it is empty or too long.
 */
export function readIdempotencyKey(
  request: Request,
  { context, body }: { context: Pick<RequestContext, "fields">; body: unknown },
): IdempotencyKey | undefined {
  const key = request.headers.get("idempotency-key")?.trim();
  if (key === undefined) return undefined;
  if (key === "" || key.length > MAX_KEY_LENGTH) {
    throw new AppError(
      400,
      "invalid_request",
      `cannot use this Idempotency-Key: it must have 1 to ${MAX_KEY_LENGTH} characters`,
    );
  }
  const isIdentified = context.fields.caller !== undefined;
  return {
    caller: isIdentified ? digestOf(readApiKey(request) ?? "") : "",
    key,
    bodyHash: digestOf(JSON.stringify(body)),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** 422 for a key that was used with a different body. */
export function keyReused(): AppError {
  return new AppError(
    422,
    "idempotency_key_reused",
    "cannot use this Idempotency-Key: it was already used with a different body",
  );
}

/** The problems of a request that calls an endpoint and may have an idempotency key. */
export const CALL_PROBLEMS = {
  403: "`endpoint_not_allowed`, `forbidden_origin`, `forbidden_host`",
  422: "`idempotency_key_reused`: the key came with another body before",
};
