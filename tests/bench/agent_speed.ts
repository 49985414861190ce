import { askAgent, askProvider, QUESTIONS, startAgent } from "./agent_process.ts";
import { elapsedMs, report, sideBySide, startEndpoint } from "./measure.ts";

const ROUNDS = [
  { clients: 1, runs: 300 },
  { clients: 50, runs: 2000 },
  { clients: 500, runs: 3000 },
];
/** Runs of each kind before any is counted: by then the code that they take is compiled. */
const WARM_UP = 2000;
/** Model calls of a run, which the floor has to make too. */
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
    for (const { clients, runs } of ROUNDS) {
      const floor = await timed(runs, clients, async () => {
        for (let call = 0; call < CALLS[kind]; call++) await askProvider(hub, QUESTIONS[kind]);
      });
      const before = agent.cpuMs();
      const ours = await timed(runs, clients, () => askAgent(agent.url, QUESTIONS[kind]));
      const after = agent.cpuMs();
      const what = `${kind}, ${clients} clients`;
      report(`${what}: bare fetch`, floor.perSecond, { unit: "runs/s", digits: 0 });
      report(`${what}: agent`, ours.perSecond, { unit: "runs/s", digits: 0 });
      report(`${what}: bare fetch, p50`, floor.p50, { unit: "ms", digits: 1 });
      report(`${what}: agent, p50`, ours.p50, { unit: "ms", digits: 1 });
      report(`${what}: bare fetch, p99`, floor.p99, { unit: "ms", digits: 1 });
      report(`${what}: agent, p99`, ours.p99, { unit: "ms", digits: 1 });
      if (before === undefined || after === undefined) continue;
      report(`${what}: the agent's processor time a run`, (after - before) / runs, {
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

async function timed(runs: number, clients: number, work: () => Promise<void>) {
  const times: number[] = [];
  const whole = await elapsedMs(() =>
    sideBySide(Array(runs).keys(), clients, async () => {
      times.push(await elapsedMs(work));
    })
  );
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(runs - 1, Math.floor(runs * share))]!;
  return { perSecond: runs / whole * 1000, p50: at(0.5), p99: at(0.99) };
}
