import { z } from "zod";
import { Price } from "./test/cost.ts";
import {
  address,
  checkCredentials,
  commonVariables,
  headerKey,
  integer,
  jsonObject,
  list,
  requireSafeExposure,
  stringMap,
  wholeNumber,
} from "../shared/service/config.ts";
import { isPostgresAddress, isUsablePostgres } from "../shared/service/postgres/address.ts";

const NO_ORIGIN = "must hold origins such as https://api.example.com, https://*.example.com or *";

const Origin = z.url({ protocol: /^https?$/, error: "must hold http or https origins" })
  .refine((url) => !url.includes("*"), { error: NO_ORIGIN })
  .transform((url) => new URL(url).origin);

/** `https://*.example.com`: all subdomains of one domain. */
const Subdomains = z.string().transform((origin) => origin.replace(/\/$/, "").toLowerCase())
  .pipe(z.string().regex(/^https?:\/\/\*(\.[a-z0-9-]+){2,}(:\d+)?$/, { error: NO_ORIGIN }));

/** Everything the evaluation service reads from its environment. */
export const EvalConfig = z.object({
  ...commonVariables,
  EVAL_API_KEY: headerKey().optional(),
  EVAL_CREDENTIALS: stringMap().pipe(z.record(Origin, headerKey()).optional()),
  EVAL_ENDPOINTS: list().pipe(z.array(
    z.union([z.literal("*"), Subdomains, Origin], { error: NO_ORIGIN }),
  )),
  EVAL_CONCURRENCY: integer(64, { min: 1 }),
  EVAL_MAX_ATTEMPTS: integer(1000, { min: 1 }),
  JUDGE_BASE_URL: address(),
  JUDGE_API_KEY: headerKey().optional(),
  JUDGE_MODEL: z.string().optional(),
  PRICES: jsonObject(z.record(z.string().min(1), Price), {
    example: '{"gpt-4o*": {"input": 2.5, "cached_input": 1.25, "output": 10}}',
  }),
  EMBEDDINGS_BASE_URL: address(),
  EMBEDDINGS_API_KEY: headerKey().optional(),
  EMBEDDINGS_MODEL: z.string().optional(),
  EVAL_DATA: z.string()
    .refine((text) => isPostgresAddress(text) ? isUsablePostgres(text) : !looksLikeUrl(text), {
      error: "must be a path, or postgres://user:password@host/database",
    })
    .default("./data/eval.db"),
  EVAL_RESUME: z.enum(["on", "off"]).default("on"),
  EVAL_KEEP_DAYS: wholeNumber({ min: 1 }).optional(),
  EVAL_SERVICE_KEY: headerKey().optional(),
}).superRefine(checkModels).superRefine(checkCredentials(["JUDGE", "EMBEDDINGS"]));
export type EvalConfig = z.infer<typeof EvalConfig>;

/** Without this check `file:eval.db` would be the name of a file, and `postgres:/x` a path. */
function looksLikeUrl(text: string): boolean {
  return text.includes("://") || /^(file|sqlite|postgres(ql)?):/i.test(text);
}

/** Without this check an address without a model would only fail in the first run that uses it. */
function checkModels(config: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const service of ["JUDGE", "EMBEDDINGS"]) {
    const [address, model] = [`${service}_BASE_URL`, `${service}_MODEL`];
    if (!config[address] || config[model]) continue;
    context.addIssue({ code: "custom", path: [model], message: `must be set if ${address} is` });
  }
}

/** Throws `ConfigError` if the service would be reachable from a network without protection. */
export function requireSafeEvalExposure(config: EvalConfig): void {
  requireSafeExposure(config, { EVAL_ENDPOINTS: config.EVAL_ENDPOINTS.length > 0 });
}
