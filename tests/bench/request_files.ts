// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";
import { askAgent, QUESTIONS } from "./agent_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ROOT = new URL("../../", import.meta.url).href;
/** Requests before the one that is counted, so that nothing is loaded or compiled in it. */
const WARM_UP = 5;

/**
 * How many of our own files one request passes, by V8's coverage of the warm service's main thread:
 * those in which at least one function ran. `REQUEST_FILES=list` prints them.
 */
export async function requestFiles(): Promise<void> {
  await using endpoint = await startEndpoint();
  const hub = endpoint.url(0);
  {
    await using agent = await startInspected("agent", { HUB_BASE_URL: hub });
    const files = await agent.filesOf(() => askAgent(agent.url, QUESTIONS["one tool call"]));
    print("POST / with one tool", files, 40);
  }
  await using service = await startInspected("eval", {});
  let run = "";
  const evaluate = async () => run = await evaluateTwoTurns(service.url, hub);
  print("POST /evaluate of two turns", await service.filesOf(evaluate), 100);
  print(
    "a run's page and its API calls",
    await service.filesOf(() => openRun(service.url, run)),
    35,
  );
}

function print(what: string, files: string[], bound: number): void {
  report(`files of ${what}`, files.length, { digits: 0, bound });
  if (Deno.env.get("REQUEST_FILES") === "list") {
    console.log(files.map((file) => `    ${file}`).join("\n"));
  }
}

/** Returns the id of the run. */
async function evaluateTwoTurns(url: string, endpoint: string): Promise<string> {
  const turn = (id: string) => ({
    id,
    user_message: "Where is my order?",
    reference_reply: "It arrives on Thursday.",
  });
  const response = await fetch(new URL("/evaluate", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [turn("1"), turn("2")] },
      endpoint,
      model_id: "bench/model",
    }),
  });
  const { run_id } = await response.json();
  if (!run_id) throw new Error(`the evaluation answered ${response.status}`);
  return run_id;
}

/** What the run's page asks for, in its order. */
async function openRun(url: string, run: string): Promise<void> {
  const page = await fetch(new URL(`/ui/runs/${run}`, url), { headers: { accept: "text/html" } });
  await page.body?.cancel();
  const paths = ["?result=false", "/summary", "/scenarios", "/turns"].map((path) =>
    `/runs/${run}${path}`
  );
  for (const path of paths) {
    const response = await fetch(new URL(path, url), { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    await response.body?.cancel();
  }
}

interface Inspected extends AsyncDisposable {
  readonly url: string;
  filesOf(work: () => Promise<unknown>): Promise<string[]>;
}

async function startInspected(
  service: "agent" | "eval",
  environment: Record<string, string>,
): Promise<Inspected> {
  const process = await startServiceProcess(service, {
    environment,
    flags: ["--inspect=127.0.0.1:0"],
  });
  const inspector = await connect(process);
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

  /** The files with a function that ran since the last call. */
  async function take(): Promise<string[]> {
    const { result } = await inspector.call("Profiler.takePreciseCoverage") as Coverage;
    return result.filter(({ url, functions }) =>
      url.startsWith(ROOT) && functions.some(({ ranges }) => ranges[0]!.count > 0)
    ).map(({ url }) => url.slice(ROOT.length)).sort();
  }

  return {
    url: process.url,
    async filesOf(work) {
      for (let i = 0; i < WARM_UP; i++) await work();
      await take();
      await work();
      return await take();
    },
    async [Symbol.asyncDispose]() {
      inspector.close();
      await process[Symbol.asyncDispose]();
    },
  };
}

interface Coverage {
  result: { url: string; functions: { ranges: { count: number }[] }[] }[];
}

async function connect({ lines }: ServiceProcess) {
  const address = lines.map((line) => /ws:\/\/[^\s"]+/.exec(line)?.[0]).find(Boolean);
  if (!address) throw new Error(`the inspector did not start:\n${lines.join("\n")}`);
  const socket = new WebSocket(address);
  const waiting = new Map<number, (result: unknown) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    call(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
      const id = ++last;
      const answer = new Promise((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params }));
      return answer;
    },
    close: () => socket.close(),
  };
}
