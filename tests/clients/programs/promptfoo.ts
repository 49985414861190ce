import { assertEquals } from "@std/assert";
import {
  ANSWER,
  type ClientService,
  MODEL,
  QUESTION,
  TOKENS,
  WEATHER,
  WEATHER_QUESTION,
} from "../service.ts";
import { runProgram } from "./run_program.ts";

/** What promptfoo reports of one provider. */
interface Row {
  label: string;
  output: string;
  total: number;
  error: string | null;
}

/** promptfoo needs its own process: it is resolved from the folder in which npm installed it. */
const SCRIPT = `
import promptfoo from "promptfoo";
const suite = JSON.parse(process.argv[2]);
const evaluation = await promptfoo.evaluate(suite, { cache: false, showProgressBar: false });
const { results } = await evaluation.toEvaluateSummary();
console.log(JSON.stringify(results.map(({ provider, response, error }) => ({
  label: provider.label,
  output: response?.output,
  total: response?.tokenUsage?.total,
  error: error ?? null,
}))));
process.exit(0);
`;

/** Joins the pieces of a streamed completion; promptfoo evaluates it. */
const JOIN_PIECES = `text.split("\\n").filter((line) => line.startsWith("data: {"))
  .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").join("")`;

/**
 * promptfoo's providers: those for OpenAI do not stream, the one for HTTP does. A call of a tool is
 * answered with what its function returns.
 */
export async function usePromptfoo({ baseURL }: ClientService, programs: string): Promise<void> {
  const config = { apiBaseUrl: baseURL, apiKey: "any" };
  const weather = {
    name: "get_weather",
    description: "The weather in a city.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  };
  const functionToolCallbacks = { get_weather: `() => ${JSON.stringify(WEATHER)}` };
  const suite = {
    prompts: ["{{question}}"],
    providers: [
      { label: "chat", id: `openai:chat:${MODEL}`, config },
      { label: "responses", id: `openai:responses:${MODEL}`, config },
      {
        label: "streamed",
        id: `${baseURL}/chat/completions`,
        config: {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: { model: MODEL, messages: [{ role: "user", content: "{{prompt}}" }], stream: true },
          transformResponse: JOIN_PIECES,
        },
      },
      {
        label: "chat, tool",
        id: `openai:chat:${MODEL}`,
        config: {
          ...config,
          tools: [{ type: "function", function: weather }],
          functionToolCallbacks,
        },
      },
      {
        label: "responses, tool",
        id: `openai:responses:${MODEL}`,
        config: { ...config, tools: [{ type: "function", ...weather }], functionToolCallbacks },
      },
    ],
    tests: [
      { vars: { question: QUESTION }, providers: ["chat", "responses", "streamed"] },
      { vars: { question: WEATHER_QUESTION }, providers: ["chat, tool", "responses, tool"] },
    ],
  };
  await Deno.writeTextFile(`${programs}/evaluate.mjs`, SCRIPT);
  const printed = await runProgram(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-config",
      "--node-modules-dir=manual",
      "evaluate.mjs",
      JSON.stringify(suite),
    ],
    cwd: programs,
    env: {
      PROMPTFOO_CONFIG_DIR: `${programs}/promptfoo`,
      PROMPTFOO_DISABLE_TELEMETRY: "1",
      PROMPTFOO_DISABLE_UPDATE: "1",
    },
  });
  const rows: Row[] = JSON.parse(printed.trim().split("\n").at(-1)!);
  assertEquals(rows.toSorted((a, b) => a.label.localeCompare(b.label)), [
    { label: "chat", output: ANSWER, total: TOKENS, error: null },
    { label: "chat, tool", output: WEATHER, total: TOKENS / 2, error: null },
    { label: "responses", output: ANSWER, total: TOKENS, error: null },
    { label: "responses, tool", output: WEATHER, total: TOKENS / 2, error: null },
    { label: "streamed", output: ANSWER, total: 0, error: null },
  ]);
}
