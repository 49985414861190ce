import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";
import { startSoakEndpoint } from "./endpoint.ts";
import { type Kind, LONG_EVERY, LONG_TEXTS, type Services, TRAFFIC, warmUp } from "./traffic.ts";

export interface SoakOptions {
  seconds: number;
  requestsPerSecond: number;
  /** Whether every text is evaluated once before the clock starts. */
  isWarm?: boolean;
  /** Memory is measured from here on: before, caches and compiled code grow. */
  warmUpSeconds: number;
  onSample?: (sample: MemorySample) => void;
}

/** Resident memory of both services, in megabytes. */
export interface MemorySample {
  second: number;
  agent: number;
  eval: number;
}

export interface SoakReport {
  sent: number;
  /** Not sent, because the machine was too slow for the rate: the figures are of a lower one. */
  missed: number;
  /** Answers that were not the expected ones, by kind. */
  unexpected: string[];
  /** How often each worker and the MCP server died. */
  deaths: Record<string, number>;
  samples: MemorySample[];
  /** Growth after the warm-up, in megabytes per minute, by least squares. */
  slope: { agent: number; eval: number };
}

/** Fewer than `MAX_RUNS`: a machine that is too slow skips requests, but refuses none. */
const MOST_UNDER_WAY = 90;

/**
 * Both services as processes under steady traffic with faults in it, while workers of the
 * evaluation and an MCP server of the agent die now and then.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using endpoint = await startSoakEndpoint();
  const environment = { HUB_BASE_URL: endpoint.baseUrl, MODEL_RETRIES: "0" };
  await using agent = await startAgent(environment);
  await using evaluation = await startServiceProcess("eval", {
    environment,
    script: pathOf("eval_service.ts"),
  });
  const services = { agent: agent.url, eval: evaluation.url, endpoint: endpoint.baseUrl };

  if (options.isWarm) await warmUp(services);

  const samples: MemorySample[] = [];
  const unexpected: string[] = [];
  const underWay = new Set<Promise<void>>();
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  let sent = 0;
  let missed = 0;

  while (elapsed() < options.seconds) {
    const due = Math.floor(elapsed() * options.requestsPerSecond);
    for (; sent + missed < due; sent++) {
      if (underWay.size >= MOST_UNDER_WAY) {
        missed = due - sent;
        break;
      }
      const kind = choose(sent);
      const call: Promise<void> = kind.send(services, sent)
        .catch((error) => void unexpected.push(`${kind.name}: ${error.message}`))
        .finally(() => underWay.delete(call));
      underWay.add(call);
    }
    if (elapsed() >= samples.length + 1) {
      const sample = await readMemory(services, Math.round(elapsed()));
      samples.push(sample);
      options.onSample?.(sample);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(underWay);
  const counted = samples.filter(({ second }) => second >= options.warmUpSeconds);
  const slope = { agent: slopeOf(counted, "agent"), eval: slopeOf(counted, "eval") };
  const deaths = { ...countDeaths(evaluation), ...countDeaths(agent) };
  return { sent, missed, unexpected, deaths, samples, slope };
}

const pathOf = (file: string) => new URL(file, import.meta.url).pathname;

async function startAgent(environment: Record<string, string>): Promise<ServiceProcess> {
  const cwd = await Deno.makeTempDir();
  const server = {
    command: Deno.execPath(),
    args: ["run", "--no-config", pathOf("mortal_server.ts")],
  };
  await Deno.writeTextFile(`${cwd}/mcp.json`, JSON.stringify({ mcpServers: { mortal: server } }));
  const agent = await startServiceProcess("agent", {
    environment: { ...environment, AGENT_MCP_CONFIG: "mcp.json" },
    cwd,
    flags: ["--allow-read=.env,mcp.json", `--allow-run=${Deno.execPath()}`],
  });
  return Object.assign(agent, {
    stop: agent[Symbol.asyncDispose],
    async [Symbol.asyncDispose]() {
      await this.stop();
      await Deno.remove(cwd, { recursive: true });
    },
  });
}

/** From the log. */
function countDeaths({ lines }: ServiceProcess): Record<string, number> {
  const deaths: Record<string, number> = {};
  for (const line of lines) {
    const name = /"worker died".*"worker":"([^"]+)"/.exec(line)?.[1] ??
      (line.includes('"MCP server is down"') ? "MCP server" : undefined);
    if (name) deaths[name] = (deaths[name] ?? 0) + 1;
  }
  return deaths;
}

const WEIGHTS = TRAFFIC.flatMap((kind) => Array<Kind>(kind.weight).fill(kind));

/** Always in one order, all kinds mixed: 61 has no factor in common with the number of them. */
function choose(index: number): Kind {
  if (index % LONG_EVERY === 0) return LONG_TEXTS;
  return WEIGHTS[(index * 61) % WEIGHTS.length]!;
}

async function readMemory(services: Services, second: number): Promise<MemorySample> {
  const read = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6;
  };
  return { second, agent: await read(services.agent), eval: await read(services.eval) };
}

function slopeOf(samples: MemorySample[], of: "agent" | "eval"): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map(({ second }) => second));
  const y = mean(samples.map((sample) => sample[of]));
  let covariance = 0;
  let variance = 0;
  for (const sample of samples) {
    covariance += (sample.second - x) * (sample[of] - y);
    variance += (sample.second - x) ** 2;
  }
  return variance === 0 ? 0 : (covariance / variance) * 60;
}
