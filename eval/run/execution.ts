import { AppError, conflict, isAbort } from "../../shared/service/errors.ts";
import type { Logger } from "../../shared/service/log.ts";
import { planOf } from "../test/conversations.ts";
import type { AskingRequest, EvaluateRequest } from "../test/evaluate_request.ts";
import type { Assessor } from "../score/assessment.ts";
import type { ScoringPorts } from "../score/scoring_ports.ts";
import type { EndpointPolicy } from "../ask/policy.ts";
import type { Target } from "../ask/target.ts";
import type { RunStatus, StoredRun } from "../store/run_record.ts";
import type { RecordedTurn, RunStore } from "../store/store.ts";
import { isStorageFault } from "../store/store_fault.ts";
import type { ActiveRun, RunEnd } from "./active_run.ts";
import type { FairLimiter } from "./fair_limiter.ts";
import {
  ConversationTaken,
  type Finished,
  type Recorder,
  type RunWork,
} from "./manager/run_ports.ts";
import { createKnownReplies, nobody } from "./execute/known_replies.ts";
import { runScenarios } from "./execute/runner.ts";
import type { Sharing } from "./manager/shared_runs.ts";
import type { StoredTurn } from "../store/turn_record.ts";
import type { InteractionResult } from "../test/interaction_result.ts";

/** What executing a run needs from outside. */
export interface ExecutionPorts {
  store: RunStore;
  log: Logger;
  endpoints: EndpointPolicy;
  /** The model under test, with the credential that goes to its endpoint. */
  connect: (request: AskingRequest, credential: string | undefined) => Target;
  /** Limits the conversations of the whole process. */
  limiter: FairLimiter;
  scoring: ScoringPorts;
  /** Adds traces. */
  observeAssessor?: (assessor: Assessor) => Assessor;
  concurrency: number;
  /** Set if other processes work on the same runs. */
  sharing?: Sharing | undefined;
}

/** What the manager knows about all of its runs. */
interface ExecutionState {
  saver: ReturnType<typeof createSaver>;
  isStopping: () => boolean;
}

/** Executes a run to its end and stores how it ended. Never rejects. */
type ExecuteRun = (active: ActiveRun, finished: Finished | undefined) => Promise<RunEnd>;

export function createExecution(ports: ExecutionPorts, state: ExecutionState): ExecuteRun {
  const {
    store,
    log,
    endpoints,
    connect,
    limiter,
    scoring,
    concurrency,
    sharing,
    observeAssessor,
  } = ports;
  const { saver, isStopping } = state;

  async function execute(active: ActiveRun, finished: Finished | undefined): Promise<RunEnd> {
    const { run: { id, request } } = active;
    const budget = createBudget(request);
    let work: RunWork | undefined;
    try {
      const target = connectTo(active.run);
      if (finished && request.budget) {
        for await (const { result } of store.turns(id)) budget.addStored(result);
      }
      work = await sharing?.openWork(active.run);
      const replies = createKnownReplies(store, active.run);
      const assessor = loadAssessor(request, active);
      assessor.catch(() => {}); // rethrown to the first turn that needs it
      const outcome = await runScenarios(
        { ...planOf(request), scenarios: request.test_batch },
        {
          target,
          assessor,
          recorder: createRecorder(active, budget),
          onUnscored: (position, error) =>
            log.error("a reply could not be scored", { run_id: id, ...position, error }),
          ...(finished && { finished }),
          ...(replies && { replies }),
          ...(work && { work }),
          limiter: limiter.forRun(request.rescored ? undefined : request.endpoint),
          concurrency,
          signal: active.signal,
          // A run whose client is waiting continues until the process must end.
          isPaused: () =>
            (isStopping() && !active.isAwaited) || active.isPaused || budget.spent() !== undefined,
        },
      );
      const spent = budget.spent();
      const { done, total } = active.progress();
      if (spent !== undefined && done < total) {
        const error = conflict(`run ${id} ended early: ${spent}`);
        return await storeEnd(active, { status: "interrupted", detail: spent, error });
      }
      if (outcome === "paused" && active.isPaused) {
        return await storeEnd(active, { status: "interrupted", detail: "stopped by a caller" });
      }
      if (outcome === "paused" && spent === undefined) return { status: "running" };
      return await storeEnd(active, { status: "completed" });
    } catch (error) {
      return await settle(active, error);
    } finally {
      await work?.close();
    }
  }

  /** The rules may have changed before a resumed run. */
  function connectTo(run: StoredRun): Target {
    const { request: { endpoint, ...request } } = run;
    const isRescore = run.parentId !== null && request.rescored;
    if (endpoint === undefined || isRescore) return nobody(run);
    endpoints.requireAllowed(endpoint);
    return connect({ ...request, endpoint }, endpoints.credentialFor(endpoint));
  }

  /** Loads its modules while the first calls are running: only the replies need them. */
  async function loadAssessor(
    request: EvaluateRequest,
    { run: { id }, signal }: ActiveRun,
  ): Promise<Assessor> {
    const { createAssessor } = await import("../score/assessor.ts");
    const assessor = createAssessor(request, {
      ports: scoring,
      signal,
      onLabelFailure: (error) =>
        log.warn("labels of replies could not be read", { run_id: id, error }),
    });
    return observeAssessor?.(assessor) ?? assessor;
  }

  function createRecorder(active: ActiveRun, budget: Budget): Recorder {
    const { run: { id } } = active;
    return {
      receive: budget.addReply,
      async record(position, result, { tookMs }) {
        const saved = await saver.save(id, { ...position, result, tookMs });
        if (saved === "taken") throw new ConversationTaken();
        budget.addJudge(result.judge_cost);
        active.note(result);
      },
    };
  }

  /** Ends the run unless another process has ended it before. */
  async function storeEnd(
    { run: { id }, tally }: ActiveRun,
    { error, ...change }: { status: RunStatus; detail?: string; error?: unknown },
  ): Promise<RunEnd> {
    const counted = sharing ? "count" : tally();
    const status = await store.setStatus(id, { ...change, tally: counted, from: ["running"] });
    const isOurs = status === change.status;
    if (isOurs && status !== "interrupted") await summarise(id);
    return { status: status ?? "cancelled", ...(isOurs && error !== undefined && { error }) };
  }

  /** Lists sort runs by their summary. It is computed again if it cannot be stored now. */
  async function summarise(id: string): Promise<void> {
    try {
      const { saveSummary } = await import("../figures/summaries.ts");
      await saveSummary(store, id);
    } catch (error) {
      log.warn("cannot store the summary of a run", { run_id: id, error });
    }
  }

  async function settle(active: ActiveRun, error: unknown): Promise<RunEnd> {
    const { run: { id }, signal } = active;
    if (active.stoppedAs) return active.stoppedAs;
    try {
      if (isAbort(error) && signal.aborted) {
        return await storeEnd(active, {
          status: active.isPaused ? "interrupted" : "cancelled",
          detail: signal.reason.message,
          error,
        });
      }
      const detail = error instanceof AppError ? error.message : "the service failed; see its log";
      if (isStorageFault(error)) {
        // The run itself has not failed. It stays stored as running, because a new status cannot be
        // stored now.
        log.error("run interrupted: the database failed", { run_id: id, error });
        return { status: "interrupted", error, storageFault: detail };
      }
      log.error("run failed", { run_id: id, error });
      return await storeEnd(active, { status: "failed", detail, error });
    } catch (storing) {
      log.error("cannot store how a run ended", { run_id: id, error: storing });
      return { status: "interrupted", error };
    }
  }

  return execute;
}

/** Stores turns. Turns that could not be stored stay in memory, because they are paid for. */
export function createSaver(store: RunStore) {
  const kept = new Map<string, StoredTurn[]>();
  return {
    async save(runId: string, turn: StoredTurn): Promise<RecordedTurn> {
      try {
        return await store.recordTurn(runId, turn);
      } catch (error) {
        if (isStorageFault(error)) kept.set(runId, [...kept.get(runId) ?? [], turn]);
        throw error;
      }
    },
    /** Stores the turns that were kept: at most those that were being stored at the failure. */
    async saveKept(runId: string): Promise<void> {
      for (const turn of kept.get(runId) ?? []) await store.recordTurn(runId, turn);
      kept.delete(runId);
    },
    forget: (runId: string) => void kept.delete(runId),
  };
}

type Budget = ReturnType<typeof createBudget>;

/** Counts what a run spends against its `budget`. */
function createBudget({ budget = {} }: Pick<EvaluateRequest, "budget">) {
  let tokens = 0;
  let cost = 0;
  let unknown: string | undefined;

  /** Counts a reply when it arrives: the next question is asked before it is scored. */
  function addReply(reply: Pick<InteractionResult, "usage" | "cost">): void {
    tokens += reply.usage?.total_tokens ?? 0;
    cost += reply.cost?.amount ?? 0;
    if (budget.tokens !== undefined && !reply.usage) {
      unknown = "the endpoint does not report tokens";
    }
    if (budget.cost !== undefined && !reply.cost) {
      unknown = "the model has no price (PRICES), or the endpoint does not report tokens";
    }
  }

  function addJudge(judgeCost: InteractionResult["judge_cost"]): void {
    cost += judgeCost?.amount ?? 0;
  }

  return {
    addReply,
    addJudge,
    /** Counts a turn that an earlier process stored. */
    addStored(result: InteractionResult): void {
      if (result.copied_from_run !== undefined) return; // that run paid for it
      if (!result.error) addReply(result);
      addJudge(result.judge_cost);
    },
    /** Why the run may ask no further turn; `undefined` while it may. */
    spent(): string | undefined {
      if (unknown) return `its budget cannot be kept: ${unknown}`;
      if (budget.tokens !== undefined && tokens >= budget.tokens) {
        return `its budget of ${budget.tokens} tokens is spent (${tokens})`;
      }
      if (budget.cost !== undefined && cost >= budget.cost) {
        return `its budget of ${budget.cost} is spent (${Number(cost.toFixed(6))})`;
      }
    },
  };
}
