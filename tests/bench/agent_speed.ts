import { askAgent, askProvider, QUESTIONS, startAgent } from "./agent_process.ts";
import { elapsedMs, quantile, report, sideBySide, startEndpoint } from "./measure.ts";

const ROUNDS = 3;
/** Clients, and runs of a round. */
const LOADS = [
  { clients: 1, runs: 200 },
  { clients: 50, runs: 1000 },
  { clients: 500, runs: 1500 },
];
/** Runs of each kind before any is counted, so that their code is compiled. */
const WARM_UP = 2000;
/** Model calls of a run, which the bare `fetch` makes too. */
const CALLS = { "no tool": 1, "one tool call": 2 };
/** Milliseconds of processor time that a run may cost. */
const CPU_BOUNDS = { "no tool": 2, "one tool call": 4 };

/** Runs at 1, 50 and 500 clients against a provider that answers at once, beside a bare `fetch`. */
export async function agentSpeed(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(0);
  await using agent = await startAgent(hub);
  const kinds = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];
  for (const kind of kinds) await timed(WARM_UP, 50, () => askAgent(agent.url, QUESTIONS[kind]));

  for (const kind of kinds) {
    for (const { clients, runs } of LOADS) {
      const floor: Timed[] = [];
      const ours: Timed[] = [];
      const cpu: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        floor.push(
          await timed(runs, clients, async () => {
            for (let call = 0; call < CALLS[kind]; call++) await askProvider(hub, QUESTIONS[kind]);
          }),
        );
        const before = agent.cpuMs() ?? NaN;
        ours.push(await timed(runs, clients, () => askAgent(agent.url, QUESTIONS[kind])));
        cpu.push(((agent.cpuMs() ?? NaN) - before) / runs);
      }
      const what = `${kind}, ${clients} clients`;
      for (const [name, rounds] of Object.entries({ "bare fetch": floor, agent: ours })) {
        const of = (figure: keyof Timed) => rounds.map((round) => round[figure]);
        report(`${what}: ${name}`, of("perSecond"), { unit: "runs/s", digits: 0 });
        report(`${what}: ${name}, p50`, of("p50"), { unit: "ms", digits: 1 });
        report(`${what}: ${name}, p99`, of("p99"), { unit: "ms", digits: 1 });
      }
      report(`${what}: the agent's processor time a run`, cpu, {
        unit: "ms",
        ...(clients === 50 && { bound: CPU_BOUNDS[kind] }),
      });
    }
  }
}

/** 20,000 runs in one process: its memory must not grow with them. */
export async function agentMemory(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using agent = await startAgent(endpoint.url(0));
  const perStep = 2500;
  const samples: number[] = [];
  for (let step = 0; step < 8; step++) {
    const kind = step % 2 ? "one tool call" : "no tool";
    await timed(perStep, 50, () => askAgent(agent.url, QUESTIONS[kind]));
    const rss = agent.rssMb();
    if (rss === undefined) return;
    samples.push(rss);
    report(`memory after ${(step + 1) * perStep} runs`, rss, { unit: "MB", digits: 0 });
  }
  const early = Math.max(...samples.slice(0, 4));
  report(
    "the most in the last half / the most in the first",
    Math.max(...samples.slice(4)) / early,
    {
      unit: "×",
      bound: 1.1,
    },
  );
}

interface Timed {
  perSecond: number;
  /** In milliseconds, as p99. */
  p50: number;
  p99: number;
}

async function timed(runs: number, clients: number, work: () => Promise<void>): Promise<Timed> {
  const times: number[] = [];
  const whole = await elapsedMs(() =>
    sideBySide(Array(runs).keys(), clients, async () => {
      times.push(await elapsedMs(work));
    })
  );
  return {
    perSecond: runs / whole * 1000,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}
