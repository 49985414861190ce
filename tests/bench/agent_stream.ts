import { hang, startProviderDouble } from "../fakes/provider_double.ts";
import { QUESTIONS, startAgent } from "./agent_process.ts";
import { quantile, report, startEndpoint } from "./measure.ts";

const ROUNDS = 5;
const ANSWERS = 50;

/** The time to the first token, beside the provider's own; and what a client that leaves costs. */
export async function agentStream(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(20);
  await using agent = await startAgent(hub);
  await measureRound(hub, agent.url); // warm
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(hub, agent.url));
  const p50 = (of: (round: Round) => number[]) => rounds.map((round) => quantile(of(round), 0.5));
  const added = (share: number) =>
    rounds.map(({ ours, theirs }) => quantile(ours, share) - quantile(theirs, share));
  report("first token of a provider that takes 20 ms, p50", p50(({ theirs }) => theirs), {
    unit: "ms",
  });
  report("first token of the agent on it, p50", p50(({ ours }) => ours), { unit: "ms" });
  report("added by the agent, p50", added(0.5), { unit: "ms", bound: 5 });
  // On a machine that others use too, the fastest tenth shows what the agent itself takes.
  report("added by the agent, p10", added(0.1), { unit: "ms", bound: 5 });
  await leave();
}

/** Milliseconds to the first token of each answer. */
interface Round {
  theirs: number[];
  ours: number[];
}

async function measureRound(hub: string, agent: string): Promise<Round> {
  const round: Round = { theirs: [], ours: [] };
  for (let answer = 0; answer < ANSWERS; answer++) {
    round.theirs.push(await firstToken(`${hub}/chat/completions`, '"content":"Your'));
    round.ours.push(await firstToken(agent, "event: token"));
  }
  return round;
}

async function leave(): Promise<void> {
  await using double = await startProviderDouble(hang());
  await using agent = await startAgent(double.baseUrl);
  const times: number[] = [];
  for (let round = 1; round <= 50; round++) {
    const controller = new AbortController();
    const left = post(agent.url, controller.signal).catch(() => {});
    await double.received(round);
    const started = performance.now();
    controller.abort();
    await double.aborted(round);
    times.push(performance.now() - started);
    await left;
  }
  report("a client left: until the provider's socket is closed, p50", times, { unit: "ms" });
  report("a client left: until the provider's socket is closed, most", Math.max(...times), {
    unit: "ms",
    bound: 100,
  });
}

async function firstToken(url: string, mark: string): Promise<number> {
  const started = performance.now();
  const response = await post(url);
  let text = "";
  let taken: number | undefined;
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (taken === undefined && text.includes(mark)) taken = performance.now() - started;
  }
  if (taken === undefined) throw new Error(`no token came: ${text.slice(0, 200)}`);
  return taken;
}

function post(url: string, signal?: AbortSignal): Promise<Response> {
  const content = QUESTIONS["no tool"];
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-model-id": "bench/model",
      accept: "text/event-stream",
    },
    body: JSON.stringify({
      model: "bench/model",
      stream: true,
      messages: [{ type: "human", role: "user", content }],
    }),
    ...(signal && { signal }),
  });
}
