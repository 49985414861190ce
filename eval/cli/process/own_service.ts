import { ConfigError, explainIdleVariables } from "../../../shared/service/config.ts";
import type { Logger } from "../../../shared/service/log.ts";
import { isPostgresAddress } from "../../../shared/service/postgres/address.ts";
import { type Route, router, type Service } from "../../../shared/http/router.ts";
import { EvalConfig } from "../../config.ts";
import type { createRouteDeps, EvalDeps } from "../../http/route_deps.ts";
import { isForEncoder } from "../../score/references.ts";
import type { RunReader, RunStore } from "../../store/store.ts";
import type { Scenario } from "../../test/scenario.ts";
import type { ServiceLink, ServiceNeed } from "../context.ts";
import type { EncoderAhead } from "./encoder_ahead.ts";

type LoadRoutes = (deps: ReturnType<typeof createRouteDeps>) => Promise<Route[]>;

/** By method and path. Only the table of a request is loaded: each module takes time. */
const TABLES: [RegExp, LoadRoutes][] = [
  [
    / \/evaluate/,
    async (deps) => (await import("../../http/evaluate_routes.ts")).createEvaluateRoutes(deps),
  ],
  [
    /^POST \/runs$| \/runs\/[^/]+\/(events|interrupt|resume|baseline|gate)$/,
    async (deps) => (await import("../../http/life_routes.ts")).createLifeRoutes(deps),
  ],
  [
    / \/runs\/[^/]+\/(grades|agreement)$/,
    async (deps) => (await import("../../http/grade_routes.ts")).createGradeRoutes(deps),
  ],
  [
    / \/datasets\/[^/]+\/leaks$/,
    async (deps) => (await import("../../http/leak_routes.ts")).createLeakRoutes(deps),
  ],
  [
    / \/datasets/,
    async (deps) => (await import("../../http/dataset_routes.ts")).createDatasetRoutes(deps),
  ],
  [
    / \/compare/,
    async (deps) => (await import("../../http/compare_routes.ts")).createCompareRoutes(deps),
  ],
  [/ \/runs/, async (deps) => (await import("../../http/run_routes.ts")).createRunRoutes(deps)],
];

/** The service in this process, without what only callers from outside need. */
export async function createOwnService(given: EvalDeps): Promise<Service> {
  const { createRouteDeps } = await import("../../http/route_deps.ts");
  const deps = createRouteDeps(given);
  // A command says itself what was refused; a fault of the program has its stack in the log.
  const log = { ...given.log, info() {}, warn() {} };
  const services = new Map<LoadRoutes, Promise<Service>>();
  return async (request) => {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    const [, load] = TABLES.find(([pattern]) => pattern.test(route))!;
    const service = services.getOrInsertComputed(
      load,
      async () => router(await load(deps), { log }),
    );
    return await (await service)(request);
  };
}

/** Opens the database, and the service on it. Throws `ConfigError` if another process writes it. */
export async function openOwnService(
  given: EvalConfig,
  { access, concurrency, batch, log, encoder }: ServiceNeed & {
    log: Logger;
    encoder: EncoderAhead;
  },
): Promise<ServiceLink> {
  if (given.EMBEDDINGS_BASE_URL || !mayNeedEncoder(batch)) encoder.end();
  const config = {
    ...given,
    EVAL_CONCURRENCY: concurrency ?? given.EVAL_CONCURRENCY,
    MAX_BODY_BYTES: Number.MAX_SAFE_INTEGER,
  };
  const opening = openFor(access, config, log);
  opening.catch(() => {}); // thrown below
  const { createEvalDeps } = await import("../../wiring.ts"); // while a thread opens the database
  const { countEncoders } = await import("../../score/wiring.ts");
  const data = await opening;
  if (access !== "read") {
    for (const warning of explainIdleVariables(EvalConfig, config)) log.warn(warning);
  }
  const { findShutdowns, ...deps } = createEvalDeps(config, {
    log,
    ...data,
    // Unlike a service, a command handles no other requests meanwhile.
    starts: { encoder: encoder.start, encoders: countEncoders() },
  });
  // What is stored as running may be running in another process.
  const runs = access === "read" ? { ...deps.runs, isShared: true } : deps.runs;
  const service = await createOwnService({ ...deps, runs });
  return {
    send: (path, init) => service(new Request(`http://assay${path}`, init)),
    findShutdowns,
    [Symbol.asyncDispose]: () => data.store.close(),
  };
}

async function openFor(access: ServiceNeed["access"], config: EvalConfig, log: Logger) {
  const { EVAL_DATA: path } = config;
  if (access !== "read") {
    if (access === "write") await requireFile(path);
    const { openData } = await import("../../run/open_data.ts");
    return await openData(config, { log, isExclusive: true });
  }
  if (isPostgresAddress(path)) {
    const { openPostgresReader } = await import("../../store/open_postgres.ts");
    return { store: asStore(await openPostgresReader(path)) };
  }
  const { openReader } = await import("../../store/open_store.ts");
  return { store: asStore(await openReader({ path })) };
}

/** Read-only; a service may be using the same file. Summaries that are not stored are computed. */
function asStore(reader: RunReader): RunStore {
  const summary = () => Promise.resolve(undefined);
  return { ...reader, summary, saveSummary: () => Promise.resolve() } as unknown as RunStore;
}

/** Unless it is known that no text of a batch goes to the encoder. */
function mayNeedEncoder(batch: unknown): boolean {
  try {
    return batch === undefined || isForEncoder([batch].flat() as Scenario[]);
  } catch {
    return false; // the batch will be refused
  }
}

/** Throws `ConfigError` if there is no such file. Other faults are those of opening it. */
async function requireFile(path: string): Promise<void> {
  if (isPostgresAddress(path)) return;
  const fault = await Deno.stat(path).catch((error: unknown) => error);
  if (fault instanceof Deno.errors.NotFound) {
    throw new ConfigError(`cannot open EVAL_DATA=${path}: there is no such file`);
  }
}
