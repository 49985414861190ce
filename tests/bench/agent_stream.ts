import { hang, startProviderDouble } from "../fakes/provider_double.ts";
import { QUESTIONS, startAgent } from "./agent_process.ts";
import { median, report, startEndpoint } from "./measure.ts";

const ROUNDS = 200;

/** The time to the first token, beside the provider's own; and what a client that leaves costs. */
export async function agentStream(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(20);
  await using agent = await startAgent(hub);
  for (let round = 0; round < 50; round++) await firstToken(agent.url, "event: token"); // warm
  const theirs: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await firstToken(`${hub}/chat/completions`, '"content":"Your'));
    ours.push(await firstToken(agent.url, "event: token"));
  }
  report("first token of a provider that takes 20 ms, p50", median(theirs), { unit: "ms" });
  report("first token of the agent on it, p50", median(ours), { unit: "ms" });
  report("added by the agent, p50", median(ours) - median(theirs), { unit: "ms", bound: 5 });
  // On a machine that others use too, the fastest tenth shows what the agent itself takes.
  report("added by the agent, p10", at(ours, 0.1) - at(theirs, 0.1), { unit: "ms", bound: 5 });
  await leave();
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
  report("a client left: until the provider's socket is closed, p50", median(times), {
    unit: "ms",
  });
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

function at(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}
