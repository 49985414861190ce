import { freePort } from "../fakes/free_port.ts";
import type { Viewer } from "./viewer.ts";

/** A row of the same results for promptfoo. */
export interface ViewedTurn {
  message: string;
  reply: string;
  reference: string;
  scores: Record<string, number>;
}

/** promptfoo's viewer in a process of its own, on a database of its own. */
export interface PromptfooViewer extends AsyncDisposable {
  /** Imports turns as the results of an evaluation. */
  show(turns: ViewedTurn[]): Promise<Viewer>;
  /** Starts an evaluation of an OpenAI endpoint, which is followed in the viewer. */
  follow(options: { endpoint: string; messages: string[]; concurrency: number }): Promise<Viewer>;
}

const ROWS = ".results-table tbody tr td";

/**
 * Starts the viewer of the promptfoo in a folder (`npm install promptfoo`). Its programs run with the
 * Node of the folder, if it has one, or of the machine.
 */
export async function startPromptfooViewer(folder: string): Promise<PromptfooViewer> {
  const data = await Deno.makeTempDir();
  const bin = `${folder}/node_modules/.bin`;
  const environment = {
    PATH: `${bin}:${Deno.env.get("PATH")}`,
    PROMPTFOO_CONFIG_DIR: data,
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
    OPENAI_API_KEY: "none",
  };
  const promptfoo = (...args: string[]) =>
    new Deno.Command(`${bin}/promptfoo`, {
      args,
      cwd: data,
      env: environment,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  const port = freePort();
  const server = promptfoo("view", "--no", "--port", String(port)).spawn();
  await said(server, /Server running/);
  const started = [server];
  const viewerOf = (id: string): Viewer => ({
    url: `http://localhost:${port}/eval/${id}`,
    rows: ROWS,
  });

  return {
    async show(turns) {
      const path = `${data}/import.json`;
      await Deno.writeTextFile(path, JSON.stringify(toExport(turns)));
      const { stdout } = await promptfoo("import", path).output();
      const text = new TextDecoder().decode(stdout); // its exit code also depends on its own log
      if (!text.includes("successfully imported")) throw new Error(text);
      return viewerOf(EVALUATION);
    },
    async follow({ endpoint, messages, concurrency }) {
      const config = {
        prompts: ["{{message}}"],
        providers: [{ id: "openai:chat:m", config: { apiBaseUrl: endpoint } }],
        tests: messages.map((message) => ({
          vars: { message },
          assert: [{ type: "contains", value: "order" }],
        })),
      };
      await Deno.writeTextFile(`${data}/live.json`, JSON.stringify(config));
      const run = promptfoo(
        ...["eval", "-c", "live.json", "--no-cache", "--no-table", "--no-progress-bar"],
        ...["-j", String(concurrency)],
      ).spawn();
      started.push(run);
      return viewerOf(await said(run, /Starting evaluation (\S+)/));
    },
    async [Symbol.asyncDispose]() {
      for (const process of started) {
        try {
          process.kill("SIGKILL");
        } catch {
          // it has ended by itself
        }
        await process.status;
      }
      await Deno.remove(data, { recursive: true });
    },
  };
}

/** Waits until a process prints this; returns the pattern's group, and reads on. */
async function said(process: Deno.ChildProcess, pattern: RegExp): Promise<string> {
  const found = Promise.withResolvers<string>();
  let text = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const match = pattern.exec(text);
      if (match) found.resolve(match[1] ?? "");
    }
  };
  Promise.all([read(process.stdout), read(process.stderr)]).then(() =>
    found.reject(new Error(`promptfoo ended early:\n${text}`))
  );
  return await found.promise;
}

const EVALUATION = "eval-abc-2026-01-01T00:00:00";
const PROMPT = { id: "prompt", raw: "{{reply}}", label: "{{reply}}", provider: "echo" };

/** An evaluation as `promptfoo export` writes it, with what its viewer reads. */
function toExport(turns: ViewedTurn[]): unknown {
  const passed = turns.filter(isPassed).length;
  const timestamp = "2026-01-01T00:00:00.000Z";
  const tokenUsage = { total: 21, prompt: 12, completion: 9, cached: 0, numRequests: 1 };
  const toTest = ({ message, reply, reference }: ViewedTurn) => ({
    vars: { message, reply, reference },
    assert: [{ type: "levenshtein", value: reference }],
  });
  return {
    evalId: EVALUATION,
    results: {
      version: 3,
      timestamp,
      prompts: [{
        ...PROMPT,
        metrics: {
          score: turns.reduce((sum, { scores }) => sum + scores.overall!, 0),
          testPassCount: passed,
          testFailCount: turns.length - passed,
          testErrorCount: 0,
          assertPassCount: passed,
          assertFailCount: turns.length - passed,
          totalLatencyMs: turns.length * 5,
          tokenUsage,
          namedScores: {},
          namedScoresCount: {},
          cost: 0,
        },
      }],
      results: turns.map((turn, index) => {
        const { reply, scores } = turn;
        const verdict = { pass: isPassed(turn), score: scores.overall, reason: "Compared" };
        const testCase = toTest(turn);
        return {
          id: crypto.randomUUID(),
          testIdx: index,
          promptIdx: 0,
          promptId: PROMPT.id,
          provider: { id: "echo", label: "" },
          prompt: PROMPT,
          testCase,
          vars: testCase.vars,
          response: { output: reply, tokenUsage },
          gradingResult: {
            ...verdict,
            namedScores: scores,
            componentResults: [{ ...verdict, assertion: testCase.assert[0] }],
          },
          namedScores: scores,
          score: scores.overall,
          success: verdict.pass,
          failureReason: verdict.pass ? 0 : 1,
          latencyMs: 5,
          cost: 0,
          metadata: {},
        };
      }),
      stats: { successes: passed, failures: turns.length - passed, errors: 0, tokenUsage },
    },
    config: { prompts: [PROMPT.raw], providers: ["echo"], tests: turns.map(toTest) },
    metadata: { promptfooVersion: "0", evaluationCreatedAt: timestamp, exportedAt: timestamp },
    vars: ["message", "reply", "reference"],
  };
}

function isPassed({ scores }: ViewedTurn): boolean {
  return scores.overall! >= 0.5;
}
