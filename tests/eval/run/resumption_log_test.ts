import { assertEquals } from "@std/assert";
import type { RunWatcher, Sharing } from "../../../eval/run/manager/shared_runs.ts";
import { createLocalWork } from "../../../eval/run/manager/run_ports.ts";
import { planOf } from "../../../eval/schemas/conversations.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { createLogger } from "../../../shared/log.ts";
import { unavailable } from "../../../shared/postgres/fault.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { leftByAnother } from "../../fakes/left_run.ts";

const NEVER_MS = 3_600_000;

/** A logger, and the messages that it was given. */
function messageLog() {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line).message);
  return { lines, log: createLogger({ level: "info", format: "json", write }) };
}

/** A run that is offered again and again, as by the watch of a shared database. */
async function offeredRun() {
  const { store: working, id } = await leftByAnother();
  let fault: Error | undefined;
  const store: RunStore = {
    ...working,
    getRun: (id) => fault ? Promise.reject(fault) : working.getRun(id),
  };
  let watcher: RunWatcher | undefined;
  const sharing: Sharing = {
    openWork: ({ request }) => Promise.resolve(createLocalWork(planOf(request))),
    watch: (added) => void (watcher = added),
    news: () => Promise.resolve(),
    isExclusive: false,
    stop() {},
  };
  const { lines, log } = messageLog();
  const { runs } = evalService(() => "fine", { store, log, sharing, recoveryDelayMs: NEVER_MS });
  await runs.resumeUnfinished();
  return {
    lines,
    async offer(times: number, failure?: Error): Promise<void> {
      fault = failure;
      for (let time = 0; time < times; time++) {
        watcher!.join([{ id, queryRemoved: false }]);
        await runs.waiting(id);
        await runs.active(id)?.ended;
      }
    },
    [Symbol.asyncDispose]: () => runs.stop(),
  };
}

for (const error of [unavailable(), new TypeError("no such thing")]) {
  Deno.test(`a run that cannot be resumed is logged once until it can (${error.name})`, async () => {
    await using run = await offeredRun();
    await run.offer(5, error);
    assertEquals(run.lines, ["cannot resume a run"]);
    await run.offer(1);
    await run.offer(2, error);
    assertEquals(run.lines, ["cannot resume a run", "run resumed", "cannot resume a run"]);
  });
}

interface StartOptions {
  environment?: Record<string, string>;
  /** The fault of the database when a turn is stored. */
  fault?: Error;
}

/** What the log says of an unfinished run of this endpoint at the next start. */
async function messagesAtStart(endpoint: string, { environment = {}, fault }: StartOptions = {}) {
  const { store: working, id } = await leftByAnother({ endpoint });
  const store = fault ? { ...working, recordTurn: () => Promise.reject(fault) } : working;
  const { lines, log } = messageLog();
  const { runs } = evalService(() => "fine", { store, log, environment });
  await runs.resumeUnfinished();
  await runs.active(id)?.ended;
  await runs.stop();
  await working.close();
  return lines;
}

Deno.test("a run whose endpoint had a query is not said to be resumed", async () => {
  assertEquals(await messagesAtStart("http://127.0.0.1:9/v1?key=k"), ["cannot resume a run"]);
});

Deno.test("a run whose endpoint is no longer allowed is said to be resumed, and then to fail", async () => {
  const allowed = { EVAL_ENDPOINTS: "https://other.example" };
  const messages = await messagesAtStart("http://127.0.0.1:9/v1", { environment: allowed });
  assertEquals(messages, ["run resumed", "run failed"]);
});

Deno.test("a run that waits for the database is said to be interrupted, not to fail", async () => {
  const messages = await messagesAtStart("http://127.0.0.1:9/v1", { fault: unavailable() });
  assertEquals(messages, ["run resumed", "run interrupted: the database failed"]);
});
