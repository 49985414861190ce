import { errorMessage } from "../../shared/service/errors.ts";
import {
  COMPUTE_ONLY,
  createWorkerCall,
  type WorkerEvent,
  type WorkerPort,
  WorkerTooSlow,
} from "../../shared/service/worker_call.ts";
import { type Check, type CheckOf, decisionOf, type MeasuredReply } from "../test/check_kinds.ts";
import { type Decision, undecided } from "../test/decision.ts";
import { measure } from "./checks/measures.ts";

/** The checks that need no model. */
type ContentCheck = Exclude<Check, CheckOf<"similar" | "judge">>;

/** Checks whose value is code of the caller and may be invalid. */
export type CompiledCheck = CheckOf<"regex" | "json">;

export interface CheckedText extends MeasuredReply {
  check: ContentCheck;
}

export type CheckWork = { inspect: CompiledCheck[] } | { decide: CheckedText[] };

/** The checks of one run. */
export interface RunChecks {
  /** Ignores `negate`. Never rejects: a check that cannot be computed is undecided. */
  decide(checked: CheckedText): Decision | Promise<Decision>;
  /** The same for many, in few calls of the worker. */
  decideAll(checked: CheckedText[]): Promise<Decision[]>;
}

export interface ContentChecks extends Disposable {
  /** Runs take turns at the worker. In each, a check that took too long is not tried again. */
  forRun(): RunChecks;
  /** For each check the error in its pattern or schema, or `null`. */
  inspect(checks: CompiledCheck[]): Promise<(string | null)[]>;
}

/** Up to this length a plain check takes well below a millisecond. */
const LONG_CHARACTERS = 8_000;
/** Far more than the largest pattern takes for the longest text. */
const TIMEOUT_MS = 5_000;
/** Patterns inspected per call of the worker; one schema may take as long as all of these. */
const INSPECTED_AT_ONCE = 20;
/** The most texts and characters that one call of the worker decides. */
const DECIDED_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 100_000;

/** Plain checks of short texts are decided in this thread, all others in a worker. */
export function createContentChecks(
  { onEvent }: { onEvent?: (event: WorkerEvent) => void } = {},
): ContentChecks {
  const call = createWorkerCall<CheckWork, Decision[] | (string | null)[]>(startCheckWorker, {
    name: "checks",
    timeoutMs: TIMEOUT_MS,
    probe: () => ({ inspect: [] }),
    ...(onEvent && { onEvent }),
  });
  return {
    forRun() {
      /** By check: its last decision. The next one waits for it, to know whether it was too slow. */
      const last = new Map<string, Promise<Decision>>();
      const slow = new Map<string, Decision>();
      const run: RunChecks = {
        decide(checked) {
          const decideNow = decisionOf(checked.check);
          if (decideNow && checked.text.length <= LONG_CHARACTERS) {
            return decideNow(checked.check, measure(checked));
          }
          const key = JSON.stringify(checked.check);
          const next = (async () => {
            await last.get(key);
            if (slow.has(key)) return slow.get(key)!;
            const { decisions, isTooSlow } = await decideSome([checked], run);
            if (isTooSlow) slow.set(key, decisions[0]!);
            return decisions[0]!;
          })();
          last.set(key, next);
          return next;
        },
        async decideAll(checked) {
          const decisions: Decision[] = [];
          while (decisions.length < checked.length) {
            const some = await decideSome(firstTexts(checked, decisions.length), run);
            decisions.push(...some.decisions);
          }
          return decisions;
        },
      };
      return run;
    },
    async inspect(checks) {
      const faults: (string | null)[] = [];
      for (let at = 0; at < checks.length;) {
        const size = checks[at]!.type === "json" ? 1 : INSPECTED_AT_ONCE;
        faults.push(...await inspectSome(checks.slice(at, at + size), checks));
        at += size;
      }
      return faults;
    },
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };

  async function decideSome(checked: CheckedText[], run: RunChecks) {
    try {
      return { decisions: await call({ decide: checked }, run) as Decision[] };
    } catch (error) {
      const reason = errorMessage(error);
      const isTooSlow = error instanceof WorkerTooSlow;
      return { decisions: checked.map(() => undecided(reason)), isTooSlow };
    }
  }

  /** Retries one by one if all together take too long, to find those that are at fault. */
  async function inspectSome(checks: CompiledCheck[], caller: object): Promise<(string | null)[]> {
    try {
      return await call({ inspect: checks }, caller) as (string | null)[];
    } catch (error) {
      if (checks.length > 1) {
        return (await Promise.all(checks.map((check) => inspectSome([check], caller)))).flat();
      }
      return [errorMessage(error)];
    }
  }
}

/** As many as one call may have, at least one. */
function firstTexts(checked: CheckedText[], from: number): CheckedText[] {
  let end = from;
  let characters = 0;
  while (end < checked.length && end - from < DECIDED_AT_ONCE) {
    characters += checked[end]!.text.length;
    if (end > from && characters > CHARACTERS_AT_ONCE) break;
    end++;
  }
  return checked.slice(from, end);
}

function startCheckWorker(): WorkerPort {
  return new Worker(new URL("./check_worker.ts", import.meta.url), COMPUTE_ONLY);
}
