import { startProcess } from "../fakes/service_process.ts";
import {
  type AgentProcess,
  askAgent,
  askCompletion,
  askStreamed,
  observe,
  QUESTIONS,
  startAgent,
} from "./agent_process.ts";
import { ratios, report, sideBySide, startEndpoint } from "./measure.ts";

/** Each measures both, one after the other. */
const ROUNDS = 5;
const STARTS = 9;
/** The most time to the open port, and memory, beside the peer's. */
const START_BOUND = 1.2;
/** Processes of each kind that wait side by side for `compareIdle`. */
const IDLE_PROCESSES = 3;
/** Until the garbage of the start has been collected. */
const IDLE_MS = 60_000;
/** Runs of each kind before measuring: V8 has then compiled what is used often. */
const WARM_UP = 1000;

type Ask = (url: string) => Promise<void>;

const WORK: Record<string, Ask> = {
  "no tool": (url) => askAgent(url, QUESTIONS["no tool"]),
  "one tool call": (url) => askAgent(url, QUESTIONS["one tool call"]),
  "streamed": (url) => askStreamed(url, QUESTIONS["no tool"]),
};

/**
 * Clients, runs per round, and the most that the agent may cost beside its peer. The system counts
 * processor time in steps of 10 ms, so there are enough runs for 30 of them.
 */
const LOADS = [
  { clients: 32, runs: 400, bound: (kind: string) => kind === "streamed" ? 0.4 : 0.7 },
  { clients: 1, runs: 200, bound: () => 1.1 },
];

/** The agent beside a server that does the same with the Vercel AI SDK, both in one run. */
export async function agentPeer(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(0);
  await compareStarts(hub);
  await compareIdle(hub);
  await using agent = await startAgent(hub);
  await using peer = await startPeer(hub);
  for (const ask of Object.values(WORK)) {
    for (const { url } of [agent, peer]) {
      await sideBySide(Array(WARM_UP).keys(), 32, () => ask(url));
    }
  }
  for (const [kind, ask] of Object.entries(WORK)) {
    for (const { clients, runs, bound } of LOADS) {
      const costs = { agent: [] as number[], peer: [] as number[] };
      for (let round = 0; round < ROUNDS; round++) {
        costs.agent.push(await cpuPerRun(agent, { ask, clients, runs }));
        costs.peer.push(await cpuPerRun(peer, { ask, clients, runs }));
      }
      const what = `${kind}, ${clients} clients`;
      reportPair(`${what}: processor time a run`, costs, {
        unit: "ms",
        bound: bound(kind),
      });
    }
  }
  await compareWithoutGraph(agent);
}

/** What the graph costs: the same question through `/v1` with the agent and without it. */
async function compareWithoutGraph(agent: AgentProcess): Promise<void> {
  const ask = (tools: "on" | "off"): Ask => (url) => askCompletion(url, tools);
  const work = { "with the graph": ask("on"), "without it": ask("off") };
  for (const once of Object.values(work)) {
    await sideBySide(Array(WARM_UP).keys(), 32, () => once(agent.url));
  }
  const costs: Record<string, number[]> = { "with the graph": [], "without it": [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, once] of Object.entries(work)) {
      costs[kind]!.push(await cpuPerRun(agent, { ask: once, clients: 32, runs: 300 }));
    }
  }
  for (const [kind, found] of Object.entries(costs)) {
    report(`/v1, no tool, 32 clients, ${kind}: processor time a run`, found, { unit: "ms" });
  }
}

/** The time from the start to the open port, and the memory once a run has loaded everything. */
async function compareStarts(hub: string): Promise<void> {
  const times = { agent: [] as number[], peer: [] as number[] };
  const memory = { agent: [] as number[], peer: [] as number[] };
  for (let round = 0; round < STARTS; round++) {
    for (const [name, start] of [["agent", startAgent], ["peer", startPeer]] as const) {
      const started = performance.now();
      await using process = await start(hub);
      times[name].push(performance.now() - started);
      await askAgent(process.url, QUESTIONS["no tool"]);
      memory[name].push(process.rssMb() ?? NaN);
    }
  }
  const bound = START_BOUND;
  reportPair("start to ready", times, { unit: "ms", digits: 0, bound });
  reportPair("memory after the first run", memory, { unit: "MB", digits: 0 });
}

/** The memory of processes that were started and have nothing to do. */
async function compareIdle(hub: string): Promise<void> {
  await using processes = new AsyncDisposableStack();
  const start = async (one: typeof startAgent) => processes.use(await one(hub));
  const agents: AgentProcess[] = [];
  const peers: AgentProcess[] = [];
  for (let i = 0; i < IDLE_PROCESSES; i++) {
    agents.push(await start(startAgent));
    peers.push(await start(startPeer));
  }
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const look = (of: AgentProcess[]) => of.map((process) => process.rssMb() ?? NaN);
  const memory = { agent: look(agents), peer: look(peers) };
  reportPair("memory when idle", memory, { unit: "MB", digits: 0, bound: START_BOUND });
}

async function cpuPerRun(
  process: AgentProcess,
  { ask, clients, runs }: { ask: Ask; clients: number; runs: number },
): Promise<number> {
  const before = process.cpuMs() ?? NaN;
  await sideBySide(Array(runs).keys(), clients, () => ask(process.url));
  return ((process.cpuMs() ?? NaN) - before) / runs;
}

/** `bound` is that of the ratio. */
function reportPair(
  what: string,
  { agent, peer }: { agent: number[]; peer: number[] },
  { bound, ...form }: { unit: string; digits?: number; bound?: number },
): void {
  report(`${what}: agent`, agent, form);
  report(`${what}: AI SDK`, peer, form);
  report(`${what}: ratio`, ratios(agent, peer), { unit: "×", ...(bound && { bound }) });
}

/** With the V8 flags of the agent. */
async function startPeer(hub: string): Promise<AgentProcess> {
  const script = new URL("ai_sdk_server.ts", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const lock = new URL("../deno.lock", import.meta.url).pathname;
  const flags = [`--lock=${lock}`, "--v8-flags=--heap-growing-percent=70", `--config=${config}`];
  return observe(
    await startProcess(["run", ...flags, "-A", script], { environment: { HUB_BASE_URL: hub } }),
  );
}
