import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";

/** The agent backend in its own process, and what that process uses. */
export interface AgentProcess extends AsyncDisposable {
  readonly url: string;
  /** Processor time so far, in milliseconds; `undefined` if the system does not report it. */
  cpuMs(): number | undefined;
  /** Memory at the moment, in MB. */
  rssMb(): number | undefined;
}

export async function startAgent(hubUrl: string): Promise<AgentProcess> {
  return observe(
    await startServiceProcess("agent", { environment: { HUB_BASE_URL: hubUrl } }),
  );
}

/** Any process that answers as the agent does. */
export function observe(process: ServiceProcess): AgentProcess {
  return {
    url: process.url,
    cpuMs: () => readCpuMs(process.pid),
    rssMb: () => readRssMb(process.pid),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** Linux keeps it in ticks of ten milliseconds. */
function readCpuMs(pid: number): number | undefined {
  const fields = readProc(`/proc/${pid}/stat`)?.replace(/^.*\) /s, "").split(" ");
  return fields && (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The memory of a process at the moment, in MB. */
export function readRssMb(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** The most memory that a process has had so far, in MB. */
export function readPeakMb(pid: number): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

function readProc(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}

export const QUESTIONS = {
  "no tool": "Where is my order?",
  "one tool call": "Please use a tool.",
};

/** One whole run. */
export async function askAgent(url: string, content: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "bench/model" },
    body: JSON.stringify({ messages: [{ type: "human", content }] }),
  });
  const { content: answer } = await response.json();
  if (!answer) throw new Error(`the agent answered ${response.status}`);
}

/** One whole run as a stream of events, read to its end. */
export async function askStreamed(url: string, content: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-model-id": "bench/model",
      accept: "text/event-stream",
    },
    body: JSON.stringify({ messages: [{ type: "human", content }] }),
  });
  const events = await response.text();
  if (!events.includes("Thursday")) throw new Error(`no answer: ${events.slice(0, 200)}`);
}

/** One answer of `POST /v1/chat/completions`, by the agent or by the model alone. */
export async function askCompletion(url: string, tools: "on" | "off"): Promise<void> {
  const response = await fetch(new URL("/v1/chat/completions", url), {
    method: "POST",
    headers: { "content-type": "application/json", "x-agent-tools": tools },
    body: JSON.stringify({
      model: "bench/model",
      messages: [{ role: "user", content: QUESTIONS["no tool"] }],
    }),
  });
  const { choices } = await response.json();
  if (!choices) throw new Error(`the agent answered ${response.status}`);
}
