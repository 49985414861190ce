// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import type { ServiceProcess } from "../fakes/service_process.ts";
import { startInstances, startRun } from "../scale/instances.ts";
import { createPostgresPool } from "../../shared/service/postgres/pool.ts";
import { ratios, report, startEndpoint } from "./measure.ts";

const CONCURRENCY = 32;
const LATENCY_MS = 200;
/** How often each place is used in one run. */
const ROUNDS = 75;
const SENTENCE = "Your order was shipped on Monday and arrives on Thursday.";

/** Conversations of the same texts: what scoring costs is measured elsewhere. */
function createPlainBatch(conversations: number, turns: number) {
  return Array.from({ length: conversations }, (_, place) => ({
    id: `c${place}`,
    interactions: Array.from({ length: turns }, (_, turn) => ({
      id: String(turn),
      user_message: "Where is my order?",
      reference_reply: SENTENCE,
    })),
  }));
}

/** From the creation of a run to its end, as the service stores it, in milliseconds. */
async function timeRun(instance: ServiceProcess, body: Record<string, unknown>): Promise<number> {
  const id = await startRun(instance, { model_id: "m", protocol: "openai", ...body });
  for (;;) {
    const { runs } = await (await fetch(`${instance.url}/runs?limit=5`)).json();
    const run = runs.find((one: { run_id: string }) => one.run_id === id);
    if (run.status === "completed") {
      return Date.parse(run.finished_at) - Date.parse(run.created_at);
    }
    if (run.status !== "running") throw new Error(`the run is ${run.status}: ${run.detail}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Conversations per second of 1, 2 and 4 instances, and PostgreSQL against SQLite on one. */
export async function scale(): Promise<void> {
  if (postgresBin === undefined) return console.log("  skipped: there is no PostgreSQL");
  await using endpoint = await startEndpoint();
  for (const count of [1, 2, 4]) await shareOfLimit(count, endpoint.url(LATENCY_MS));
  await overhead(endpoint.url(50));
}

async function shareOfLimit(count: number, endpoint: string): Promise<void> {
  await using server = await startPostgres();
  const address = await server.createDatabase();
  await using instances = await startInstances(count, {
    EVAL_DATA: address,
    EVAL_CONCURRENCY: String(CONCURRENCY),
  });
  const places = count * CONCURRENCY;
  const run = (rounds: number) =>
    timeRun(instances.all[0]!, { test_batch: createPlainBatch(places * rounds, 1), endpoint });
  await run(5); // warm
  const cpu = {
    instances: () => cpuMs(instances.all.map(({ pid }) => pid)),
    server: () => cpuMs(server.pids()),
  };
  const before = [cpu.instances(), cpu.server()];
  const times = [await run(ROUNDS), await run(ROUNDS)];
  const perSecond = places * ROUNDS / Math.min(...times) * 1000;
  const limit = places / LATENCY_MS * 1000;
  report(`${count} instances: conversations/s (limit ${limit})`, perSecond, { digits: 0 });
  report(`${count} instances: share of the limit`, perSecond / limit, { atLeast: 0.9 });
  const perTurn = 2 * ROUNDS * places;
  report(
    `${count} instances: CPU a conversation, instances`,
    (cpu.instances() - before[0]!) / perTurn,
    {
      unit: "ms",
    },
  );
  report(
    `${count} instances: CPU a conversation, PostgreSQL`,
    (cpu.server() - before[1]!) / perTurn,
    {
      unit: "ms",
    },
  );
  if (count === 4) await describeStorage(address);
}

/** The processor time of processes so far, which depends little on other load. */
function cpuMs(pids: number[]): number {
  const TICK_MS = 10;
  return pids.reduce((sum, pid) => {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
    return sum + (Number(user) + Number(system)) * TICK_MS;
  }, 0);
}

/** What a turn takes in the database, for the arithmetic of docs/scale.md. */
async function describeStorage(address: string): Promise<void> {
  const pool = await createPostgresPool({ address, max: 1, name: "bench" });
  const { rows: [row] } = await pool.query<{ bytes: number; turns: number }>({
    text:
      "select pg_total_relation_size('turns')::float8 as bytes, count(*)::int as turns from turns",
  });
  await pool.end();
  report("bytes a turn, with its indexes", row!.bytes / row!.turns, { digits: 0 });
}

/** 200 scenarios × 3 attempts × 2 turns at 50 ms, in turn on either. */
async function overhead(endpoint: string): Promise<void> {
  await using server = await startPostgres();
  const folder = await Deno.makeTempDir();
  const environment = { EVAL_CONCURRENCY: String(CONCURRENCY) };
  await using sqlite = await startInstances(1, { ...environment, EVAL_DATA: `${folder}/eval.db` });
  await using postgres = await startInstances(1, {
    ...environment,
    EVAL_DATA: await server.createDatabase(),
  });
  const run = ({ all: [instance] }: typeof sqlite) =>
    timeRun(instance!, { test_batch: createPlainBatch(200, 2), attempts: 3, endpoint });
  const times = { sqlite: [] as number[], postgres: [] as number[] };
  for (let round = 0; round < 4; round++) {
    const [one, other] = [await run(sqlite), await run(postgres)];
    if (round === 0) continue; // warm
    times.sqlite.push(one);
    times.postgres.push(other);
  }
  report("one instance, 50 ms: SQLite", times.sqlite, { unit: "ms", digits: 0 });
  report("one instance, 50 ms: PostgreSQL / SQLite", ratios(times.postgres, times.sqlite), {
    unit: "×",
    bound: 1.3,
  });
  await Deno.remove(folder, { recursive: true });
}
