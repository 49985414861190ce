import {
  createWorkerCall,
  type WorkerEvent,
  type WorkerPort,
} from "../../../shared/background/worker_call.ts";
import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import type { CheckOf } from "../../../shared/schemas/checks.ts";
import { type Decision, undecided } from "./decision.ts";
import { decideText, type TextCheck } from "./text_checks.ts";

/** The checks that look at nothing but a text. */
export type ContentCheck = TextCheck | CheckOf<"regex" | "json" | "language">;

/** What callers write in a language of its own: it may be wrong. */
export type CompiledCheck = CheckOf<"regex" | "json">;

/** What the worker is sent. */
export type CheckWork = { inspect: CompiledCheck[] } | { check: ContentCheck; text: string };

export interface ContentChecks extends Disposable {
  /** Without its `negate`. Never rejects: what cannot be computed is undecided. */
  decide(check: ContentCheck, text: string): Decision | Promise<Decision>;
  /** For each, what is wrong with its pattern or schema; `null` if nothing is. */
  inspect(checks: CompiledCheck[]): Promise<(string | null)[]>;
}

/** Up to here a plain check takes well below a millisecond. */
const LONG_CHARACTERS = 8_000;
/** Far more than the largest pattern takes for the longest text. */
const TIMEOUT_MS = 5_000;
/** Patterns inspected in one call of the worker; a schema may take as long as all of these. */
const INSPECTED_AT_ONCE = 20;

/** Plain checks of short texts are decided here and now, everything else in a worker. */
export function createContentChecks(
  { onEvent }: { onEvent?: (event: WorkerEvent) => void } = {},
): ContentChecks {
  const call = createWorkerCall<CheckWork, Decision | (string | null)[]>(startCheckWorker, {
    name: "checks",
    timeoutMs: TIMEOUT_MS,
    probe: { inspect: [] },
    ...(onEvent && { onEvent }),
  });
  return {
    decide(check, text) {
      if (isPlain(check) && text.length <= LONG_CHARACTERS) return decideText(check, text);
      return (call({ check, text }) as Promise<Decision>)
        .catch((error) => undecided(error.message));
    },
    async inspect(checks) {
      const faults: (string | null)[] = [];
      for (let at = 0; at < checks.length;) {
        const size = checks[at]!.type === "json" ? 1 : INSPECTED_AT_ONCE;
        faults.push(...await inspectSome(checks.slice(at, at + size)));
        at += size;
      }
      return faults;
    },
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };

  /** One by one if they take too long together: only those that do so alone are at fault. */
  async function inspectSome(checks: CompiledCheck[]): Promise<(string | null)[]> {
    try {
      return await call({ inspect: checks }) as (string | null)[];
    } catch (error) {
      if (checks.length > 1) {
        return (await Promise.all(checks.map((check) => inspectSome([check])))).flat();
      }
      return [error instanceof Error ? error.message : String(error)];
    }
  }
}

function isPlain(check: ContentCheck): check is TextCheck {
  return check.type !== "regex" && check.type !== "json" && check.type !== "language";
}

function startCheckWorker(): WorkerPort {
  return new Worker(new URL("./check_worker.ts", import.meta.url), COMPUTE_ONLY);
}
