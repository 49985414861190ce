import { AppError, isAbort } from "../../shared/errors.ts";
import { overloaded } from "../../shared/http/admission.ts";
import type { Logger } from "../../shared/log.ts";
import type { EvaluateRequest } from "../../shared/schemas/evaluate.ts";
import { createAssessor, describeScoring, type ScoringPorts } from "../assess/assessor.ts";
import { planOf } from "../../shared/schemas/conversations.ts";
import { requireReferences } from "./reference_history.ts";
import { requireUsableChecks } from "../assess/checks/usable_checks.ts";
import type { EndpointPolicy } from "../endpoint/policy.ts";
import type { FairLimiter } from "./fair_limiter.ts";
import type { Target } from "../endpoint/target.ts";
import { ConversationTaken, type Finished } from "./run_ports.ts";
import { runScenarios } from "./runner.ts";
import type {
  KnownRun,
  NewRun,
  RunRecord,
  RunStatus,
  RunStore,
  StoredRun,
  Tally,
} from "../store/store.ts";
import { removeQuery } from "../store/endpoint_query.ts";
import { isStorageFault } from "../store/store_fault.ts";
import { type ActiveRun, createActiveRun, type RunEnd } from "./active_run.ts";
import { createStoredParts, readFinished } from "./finished_turns.ts";
import { createSuspects } from "./suspects.ts";
import { createRecovery } from "./recovery.ts";
import { createSaver } from "./saver.ts";
import type { Sharing } from "./sharing.ts";
import { createWaitingRuns } from "./waiting_runs.ts";
import type { RunWork } from "./work.ts";

/** Everything a run needs from outside. */
export interface RunManagerDeps {
  store: RunStore;
  log: Logger;
  endpoints: EndpointPolicy;
  /** The model under test, with the credential that goes to its endpoint. */
  connect: (request: EvaluateRequest, credential: string | undefined) => Target;
  /** Limits the conversations of the whole process. */
  limiter: FairLimiter;
  scoring: ScoringPorts;
  concurrency: number;
  /** `EVAL_MAX_RUNS`: at most this many run at once, more are refused. No limit if unset. */
  maxRuns?: number;
  /** Set if other processes work on the same runs. */
  sharing?: Sharing | undefined;
  /** The wait before a run is resumed that a storage fault has interrupted. */
  recoveryDelayMs?: number;
}

/** Longer replies are on the disk before they are scored: a long text may crash the process. */
const LONG_REPLY = 100_000;

/** Why a run whose endpoint had a query cannot be resumed in another process, and what to do. */
export const QUERY_LOST =
  "its endpoint has a query, which is not stored; send the request again (with the same " +
  "Idempotency-Key, if it had one), or put the credential into EVAL_CREDENTIALS";

/** `known` and `mismatch` are as in `CreatedRun`. */
export type StartedRun = { outcome: "started"; active: ActiveRun } | KnownRun;

/** Starts runs, knows the running ones, and stores their turns and how they end. */
export interface RunManager {
  /**
   * Stores a run and starts it; a key that was used before starts nothing. Throws 503 `overloaded`
   * if too many are running.
   */
  start(run: NewRun): Promise<StartedRun>;
  /**
   * Resumes a stored run after its stored turns. `endpoint` is its address with the query, which is
   * not stored. Throws 503 `overloaded` if too many are running.
   */
  resume(run: StoredRun, options?: { endpoint?: string }): Promise<ActiveRun>;
  active(id: string): ActiveRun | undefined;
  /** True if other processes work on the same runs. */
  readonly isShared: boolean;
  /** True if this process, or another one, works on the run or is about to. */
  isRunning(run: Pick<RunRecord, "id" | "status">): boolean;
  /** Resolves at the next news of a run of other processes; `undefined` if there are none. */
  news(id: string): Promise<void> | undefined;
  /** Brings the counts of an active run up to date, if other processes work on it too. */
  refresh(id: string): Promise<void>;
  /** The number of running runs. */
  readonly count: number;
  /** Why a run is not running although it is stored as such: its end could not be stored. */
  faultOf(id: string): string | null;
  /**
   * Queues the runs that an earlier process left unfinished. They wait, and no endpoint is called
   * for them before `resumeUnfinished`.
   */
  queueUnfinished(): Promise<void>;
  /**
   * Resumes these, oldest first, as many as `maxRuns` allows; the others follow as runs end. They
   * need no client. Resolves when the first ones have started.
   */
  resumeUnfinished(): Promise<void>;
  /** Marks these `interrupted` instead. */
  interruptUnfinished(): Promise<void>;
  /** Resolves once a queued run is resumed or dropped; `undefined` if it is not queued. */
  waiting(id: string): Promise<void> | undefined;
  /** Removes a cancelled run from the queue. */
  dropWaiting(id: string): void;
  /**
   * For the end of the process: detached runs start no further turn. Resolves when all runs have
   * ended. Unfinished runs stay `running`, for the next process.
   */
  stop(): Promise<void>;
  /** Ends all runs at once and aborts their calls. They stay `running`, for the next process. */
  abandon(): void;
  readonly isStopping: boolean;
}

/** The counts of a shared run are read at most this often. */
const REFRESH_MS = 250;

const NOTHING_YET: Tally = {
  done: 0,
  failed: 0,
  missing: 0,
  scored: 0,
  mean: null,
  lastSeq: 0,
};

export function createRunManager(deps: RunManagerDeps): RunManager {
  const { store, log, endpoints, connect, limiter, scoring, concurrency, sharing } = deps;
  const { maxRuns = Infinity } = deps;
  let starting = 0;
  const runs = new Map<string, ActiveRun>();
  const faults = new Map<string, string>();
  const waiting = createWaitingRuns();
  let isQueued = false; // only once: later, runs of this process are stored as running too
  const stopping = new AbortController();
  const recovery = createRecovery(
    deps.recoveryDelayMs === undefined ? {} : { delayMs: deps.recoveryDelayMs },
  );
  /** Endpoints with their queries, of runs that have not ended. */
  const addresses = new Map<string, string>();
  const saver = createSaver(store);
  const suspects = createSuspects();
  /** Runs that no other process may work on. */
  const reserved = new Set<string>();
  let isWatching = false;
  const refreshed = new WeakMap<ActiveRun, number>();

  function watchOthers(): void {
    if (isWatching || !sharing) return;
    isWatching = true;
    sharing.watch({
      active: () => [...runs.keys()],
      reserved: () => [...reserved].filter((id) => runs.has(id)),
      join(ids) {
        if (stopping.signal.aborted) return;
        waiting.add(ids.filter((id) => !runs.has(id)));
        resumeWaiting();
      },
      ended: (id, status) => runs.get(id)?.endElsewhere(status ?? "cancelled"),
      changed: (id) => runs.get(id)?.wake(),
    });
  }

  function launch(run: StoredRun, { tally, finished }: { tally: Tally; finished?: Finished }) {
    const active = createActiveRun(run, { tally, now: () => performance.now() });
    runs.set(run.id, active);
    faults.delete(run.id);
    execute(active, finished).then((end) => {
      runs.delete(run.id);
      reserved.delete(run.id);
      if (end.status !== "interrupted" && end.status !== "running") addresses.delete(run.id);
      active.end(end);
      resumeWaiting();
    });
    return active;
  }

  async function execute(active: ActiveRun, finished?: Finished): Promise<RunEnd> {
    const { run: { id, queryRemoved } } = active;
    const request = { ...active.run.request, endpoint: addressOf(active.run) };
    let work: RunWork | undefined;
    try {
      if (queryRemoved && !addresses.has(id)) return await interruptForQuery(active);
      endpoints.requireAllowed(request.endpoint); // the rules may have changed before a resumed run
      work = await sharing?.openWork(active.run, { concurrency });
      const outcome = await runScenarios(
        { ...planOf(request), scenarios: request.test_batch },
        {
          target: connect(request, endpoints.credentialFor(request.endpoint)),
          assessor: createAssessor(request, {
            ports: scoring,
            signal: active.signal,
            onLabelFailure: (error) =>
              log.warn("labels of replies could not be read", { run_id: id, error }),
          }),
          recorder: {
            async receive(position, { reply, latencyMs }) {
              const isUrgent = reply.content.length > LONG_REPLY;
              const stored = saver.saveReply(id, { ...position, ...reply, latencyMs }, {
                isUrgent,
              });
              if (isUrgent) await stored;
              else stored.catch(() => {}); // storing the turn fails in the same way
            },
            async record(position, result, { tookMs }) {
              const saved = await saver.saveTurn(id, { ...position, result, tookMs });
              if (saved === "taken") throw new ConversationTaken();
              active.note(result);
            },
          },
          onUnscored: (position, error) =>
            log.error("a reply could not be scored", { run_id: id, ...position, error }),
          ...(finished && { finished }),
          ...(work && { work }),
          limiter: limiter.forRun(request.endpoint),
          concurrency,
          signal: active.signal,
          // A run whose client is waiting may use the time until the process must end.
          isPaused: () => stopping.signal.aborted && active.isDetached,
        },
      );
      if (outcome === "paused") return { status: "running" };
      return await storeEnd(active, { status: "completed" });
    } catch (error) {
      return await settle(active, error);
    } finally {
      await work?.close();
    }
  }

  /** Ends the run unless another process has ended it before. */
  async function storeEnd(
    { run: { id }, tally }: ActiveRun,
    { error, ...change }: { status: RunStatus; detail?: string; error?: unknown },
  ): Promise<RunEnd> {
    const counted = sharing ? "count" : tally();
    const status = await store.setStatus(id, { ...change, tally: counted, from: ["running"] });
    const isOurs = status === change.status;
    return { status: status ?? "cancelled", ...(isOurs && error !== undefined && { error }) };
  }

  /** The endpoint as the caller sent it; without its query if the query is unknown. */
  function addressOf({ id, endpoint }: StoredRun): string {
    return addresses.get(id) ?? endpoint;
  }

  async function interruptForQuery(active: ActiveRun): Promise<RunEnd> {
    const { run: { id } } = active;
    const detail = `cannot resume run ${id}: ${QUERY_LOST}`;
    log.warn("cannot resume a run", { run_id: id, detail });
    const error = new AppError(409, "conflict", detail);
    return await storeEnd(active, { status: "interrupted", detail, error });
  }

  /** Resumes a run that an earlier process left, or that a storage fault has interrupted. */
  async function resumeStored(id: string): Promise<void> {
    const run = await store.getRun(id);
    const isWaiting = run?.status === "running" && !runs.has(id) && !stopping.signal.aborted;
    if (!isWaiting) return saver.forget(id); // deleted, cancelled or resumed by a caller
    const active = await resume(run);
    active.detach();
    const { done, total } = active.progress();
    log.info("run resumed", { run_id: id, done, total });
  }

  /** The same as soon as `maxRuns` allows. */
  async function resumeInPlace(id: string): Promise<void> {
    if (isFull()) return waiting.add([id]);
    await inPlace(() => resumeStored(id));
  }

  async function settle(active: ActiveRun, error: unknown): Promise<RunEnd> {
    const { run: { id }, signal } = active;
    if (active.isAbandoned) return { status: "running" };
    if (active.endedAs) return { status: active.endedAs };
    try {
      if (isAbort(error) && signal.aborted) {
        return await storeEnd(active, {
          status: "cancelled",
          detail: signal.reason.message,
          error,
        });
      }
      log.error("run failed", { run_id: id, error });
      const detail = error instanceof AppError ? error.message : "the service failed; see its log";
      if (isStorageFault(error)) {
        // The run itself has not failed. It stays stored as running, because a new status cannot be
        // stored now.
        faults.set(id, detail);
        recovery.later(id, () => resumeInPlace(id));
        return { status: "interrupted", error };
      }
      return await storeEnd(active, { status: "failed", detail, error });
    } catch (storing) {
      log.error("cannot store how a run ended", { run_id: id, error: storing });
      return { status: "interrupted", error };
    }
  }

  /** A retry keeps its parent's scoring, because it contains turns of both runs. */
  function withScoring(run: NewRun): NewRun {
    if (run.parentId !== undefined) return run;
    return { ...run, request: { ...run.request, scored_by: describeScoring(scoring) } };
  }

  const isFull = () => runs.size + starting >= maxRuns;

  function requirePlace(): void {
    if (isFull()) throw overloaded({ what: "runs", max: maxRuns, setting: "EVAL_MAX_RUNS" });
  }

  /** Counts a run that is about to begin. */
  async function inPlace<T>(begin: () => Promise<T>): Promise<T> {
    starting++;
    let hasBegun = false;
    try {
      const begun = await begin();
      hasBegun = true;
      return begun;
    } finally {
      starting--;
      if (!hasBegun) resumeWaiting(); // its place is free again
    }
  }

  /** True if no other process can or may work on a run. */
  const isExclusive = (hasQuery: boolean) =>
    sharing !== undefined &&
    (sharing.isExclusive || hasQuery);

  const partsOf = ({ id }: { id: string }) => createStoredParts(store, { id, suspects });

  const readStored = (run: StoredRun): Finished | Promise<Finished> =>
    sharing
      ? partsOf(run)
      : readFinished(store, { id: run.id, plan: planOf(run.request), suspects });

  async function resume(
    run: StoredRun,
    { endpoint }: { endpoint?: string } = {},
  ): Promise<ActiveRun> {
    if (endpoint !== undefined && run.queryRemoved) addresses.set(run.id, endpoint);
    await saver.saveKept(run.id);
    const [tally, finished] = await Promise.all([store.tally(run.id), readStored(run)]);
    const isReserved = isExclusive(run.queryRemoved);
    if (run.status !== "running") {
      await store.setStatus(run.id, { status: "running", from: [run.status], isReserved });
    }
    if (isReserved && (sharing!.isExclusive || addresses.has(run.id))) reserved.add(run.id);
    watchOthers();
    return runs.get(run.id) ?? launch(run, { tally, finished });
  }

  /** Resumes queued runs as long as `maxRuns` allows. Never rejects. */
  async function resumeWaiting(): Promise<void> {
    while (!stopping.signal.aborted && !isFull()) {
      const id = waiting.take();
      if (id === undefined) return;
      starting++;
      try {
        await resumeStored(id);
        if (!waiting.has(id)) runs.get(id)?.cancel("cancelled by a caller"); // it was cancelled while it was read
      } catch (error) {
        log.error("cannot resume a run", { run_id: id, error });
        if (isStorageFault(error)) recovery.later(id, () => resumeInPlace(id));
      } finally {
        starting--;
        waiting.drop(id);
      }
    }
  }

  async function queueUnfinished(): Promise<void> {
    if (sharing) return; // the watch finds them
    isQueued = true;
    waiting.add(await store.unfinishedRuns());
  }

  return {
    queueUnfinished,
    waiting: waiting.changed,
    dropWaiting: waiting.drop,
    active: (id) => runs.get(id),
    isRunning: ({ id, status }) =>
      runs.has(id) || waiting.has(id) || (sharing !== undefined && status === "running"),
    news: (id) => sharing?.news(id),
    isShared: sharing !== undefined,
    async refresh(id) {
      const active = runs.get(id);
      if (!sharing || !active) return;
      if (performance.now() - (refreshed.get(active) ?? -Infinity) < REFRESH_MS) return;
      refreshed.set(active, performance.now());
      active.sync(await store.tally(id));
    },
    get count() {
      return runs.size;
    },
    faultOf: (id) => faults.get(id) ?? null,
    get isStopping() {
      return stopping.signal.aborted;
    },

    async start(run) {
      const known = run.idempotency && await store.findByKey(run.idempotency);
      if (known) return known; // it starts nothing, so the limit does not matter
      requirePlace();
      return await inPlace(async () => {
        if (run.parentId === undefined) {
          requireReferences(run.request);
          const { checks, judge } = scoring;
          await requireUsableChecks(run.request.test_batch, { checks, hasJudge: Boolean(judge) });
        }
        const { endpoint } = run.request;
        const isReserved = isExclusive(removeQuery(endpoint) !== endpoint);
        const created = await store.createRun({ ...withScoring(run), isReserved });
        if (created.outcome !== "created") return created;
        if (created.run.queryRemoved) addresses.set(created.id, endpoint);
        if (isReserved) reserved.add(created.id);
        watchOthers();
        const active = run.parentId === undefined
          ? launch(created.run, {
            tally: NOTHING_YET,
            ...(sharing && { finished: partsOf(created) }),
          })
          : await resume(created.run);
        return { outcome: "started", active };
      });
    },

    async resume(run, options) {
      const known = runs.get(run.id);
      if (known) return known;
      requirePlace();
      return await inPlace(() => resume(run, options));
    },

    async resumeUnfinished() {
      if (sharing) return watchOthers();
      if (!isQueued) await queueUnfinished();
      await resumeWaiting();
      if (waiting.count > 0) {
        log.info(
          "unfinished runs are queued: the limit of running runs is reached (EVAL_MAX_RUNS)",
          { runs: waiting.count },
        );
      }
    },

    async interruptUnfinished() {
      if (sharing) return watchOthers(); // other processes may be working on them
      if (!isQueued) await queueUnfinished();
      for (let id = waiting.take(); id !== undefined; id = waiting.take()) {
        const tally = await store.tally(id);
        await store.setStatus(id, { status: "interrupted", tally });
        waiting.drop(id);
        log.info("run interrupted", { run_id: id, done: tally.done });
      }
    },

    async stop() {
      stopping.abort();
      recovery.stop();
      waiting.dropAll();
      await Promise.all([...runs.values()].map((active) => active.ended));
      sharing?.stop();
    },

    abandon() {
      for (const active of runs.values()) active.abandon();
    },
  };
}
