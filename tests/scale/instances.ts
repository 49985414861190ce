import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";

/** Instances of the service on one database, each of which may die and start again. */
export interface Instances extends AsyncDisposable {
  readonly all: readonly ServiceProcess[];
  /** Starts a new process in the place of one that has died. */
  restart(index: number): Promise<ServiceProcess>;
}

export async function startInstances(
  count: number,
  environment: Record<string, string>,
): Promise<Instances> {
  const started: ServiceProcess[] = [];
  const start = async () => {
    const instance = await startServiceProcess("eval", { environment });
    started.push(instance);
    return instance;
  };
  const first = await start(); // makes the tables; the others would wait for it
  const all = [first, ...await Promise.all(Array.from({ length: count - 1 }, start))];
  return {
    all,
    restart: async (index) => all[index] = await start(),
    async [Symbol.asyncDispose]() {
      for (const instance of started) await instance[Symbol.asyncDispose]();
    },
  };
}

/** A request of this many conversations; each question has a text of its own. */
export function batchOf(
  conversations: number,
  { turns, endpoint, name = "c" }: { turns: number; endpoint: string; name?: string },
) {
  return {
    test_batch: Array.from({ length: conversations }, (_, place) => ({
      id: `${name}${place}`,
      interactions: Array.from({ length: turns }, (_, turn) => ({
        id: `${turn}`,
        user_message: `${name}${place} turn ${turn}`,
      })),
    })),
    endpoint,
    model_id: "m",
    protocol: "openai",
  };
}

/** Starts a run that goes on by itself, and returns its id. */
export async function startRun(instance: ServiceProcess, body: unknown): Promise<string> {
  const response = await fetch(`${instance.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify(body),
  });
  const { run_id, ...rest } = await response.json();
  if (!run_id) throw new Error(`${response.status}: ${JSON.stringify(rest)}`);
  return run_id;
}

export interface RunState {
  status: string;
  detail: string | null;
  progress: { done: number; failed: number; total: number };
}

/** `undefined` if the instance does not answer, or its database does not. */
export async function readRun(
  instance: ServiceProcess,
  id: string,
): Promise<RunState | undefined> {
  try {
    const response = await fetch(`${instance.url}/runs?limit=50`, {
      signal: AbortSignal.timeout(15_000),
    });
    if (!response.ok) return void await response.body?.cancel();
    const { runs } = await response.json();
    return runs.find((run: { run_id: string }) => run.run_id === id);
  } catch {
    return undefined;
  }
}

/** Long: it only ends a test that would hang. */
const PATIENCE_MS = 300_000;

/** Waits until a run has ended, as any of the instances sees it. */
export async function awaitEnd(
  instances: () => readonly ServiceProcess[],
  id: string,
): Promise<RunState> {
  const until = performance.now() + PATIENCE_MS;
  let last: RunState | undefined;
  for (let turn = 0; performance.now() < until; turn++) {
    const all = instances();
    const state = await readRun(all[turn % all.length]!, id);
    if (state && state.status !== "running") return state;
    last = state ?? last;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`run ${id} did not end: ${JSON.stringify(last)}`);
}
