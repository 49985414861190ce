import { QUESTIONS, startAgent } from "./agent_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ROUNDS = 5;
const CHUNKS = 30_000;

/** The agent in its own protocol and in OpenAI's, and the model alone. */
const WAYS: Record<string, { path: string; model: string; headers?: Record<string, string> }> = {
  "POST /": { path: "/", model: "bench/model", headers: { accept: "text/event-stream" } },
  "/v1/chat/completions": { path: "/v1/chat/completions", model: "bench/model" },
  "/v1/chat/completions, :plain": { path: "/v1/chat/completions", model: "bench/model:plain" },
};

/** Processor time of an answer of 30,000 chunks, beside a loop that only reads them. */
export async function agentChunks(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(0, `/chunks/${CHUNKS}`);
  await using agent = await startAgent(hub);
  const costs: Record<string, number[]> = { "a loop that only reads": [] };
  for (let round = 0; round < ROUNDS; round++) {
    costs["a loop that only reads"]!.push(await readBare(`${hub}/chat/completions`));
    for (const [way, { path, model, headers }] of Object.entries(WAYS)) {
      const before = agent.cpuMs() ?? NaN;
      await readStream(new URL(path, agent.url), { model, headers });
      (costs[way] ??= []).push(((agent.cpuMs() ?? NaN) - before) / 1000);
    }
  }
  for (const [way, seconds] of Object.entries(costs)) {
    const bound = way in WAYS ? { bound: 2 } : {};
    report(`${CHUNKS} chunks, processor time: ${way}`, seconds, { unit: "s", ...bound });
  }
}

async function readBare(url: string): Promise<number> {
  const script = new URL("bare_stream.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", script, url] })
    .output();
  const [chunks, ms] = new TextDecoder().decode(stdout).split(" ").map(Number);
  if (chunks !== CHUNKS) throw new Error(`the loop has read ${chunks} chunks`);
  return ms! / 1000;
}

async function readStream(
  url: URL,
  { model, headers }: { model: string; headers: Record<string, string> | undefined },
): Promise<void> {
  const content = QUESTIONS["no tool"];
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": model, ...headers },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content }] }),
  });
  let events = 0;
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    events += text.split("data: ").length - 1;
  }
  if (events < CHUNKS) throw new Error(`${events} events came`);
}
