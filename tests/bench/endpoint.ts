/**
 * A model endpoint in a process of its own, so that its work is not counted as ours. It answers
 * `/delay/<ms>/v1/chat/completions` after that many milliseconds: with a tool call if the request
 * offers tools and the user says "use a tool", in pieces if a stream is asked for, and always with
 * one sentence. `/delay/<ms>/echo/v1/…` answers with what the user asked to hear, and with errors in
 * every tenth reply; `/delay/<ms>/fresh/<words>/v1/…` never gives the same reply twice. Prints
 * its port.
 */
import process from "node:process";
import { corrupt, createText } from "./varied_texts.ts";

interface Body {
  model: string;
  messages: { role: string; content: string }[];
  tools?: unknown[];
  stream?: boolean;
}

const WORDS = "Your order was shipped on Monday and arrives on Thursday.".match(/\S+\s*/g) ?? [];
const USAGE = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };

let calls = 0;

/** What follows `Say: ` in the question, or another text. */
function reply(path: string, question: string): string {
  const call = ++calls;
  const wanted = /\/echo\//.test(path) && /Say: (.*)/s.exec(question)?.[1];
  if (wanted) return call % 10 === 0 ? corrupt(wanted, call) : wanted;
  const [, length] = /\/fresh\/(\d+)\//.exec(path) ?? [];
  return length ? createText(1_000_000 + call, Number(length)) : WORDS.join("");
}

async function handle(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  const delay = Number(/^\/delay\/(\d+)\//.exec(path)?.[1] ?? 0);
  const body = await request.json() as Body;
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  if (body.stream) return streamWords(body.model);
  const last = body.messages.at(-1);
  const wantsTool = body.tools && last?.role === "user" && last.content.includes("use a tool");
  const message = wantsTool
    ? {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "abcdefghi",
        type: "function",
        function: { name: "calculator", arguments: '{"expression":"2+2"}' },
      }],
    }
    : { role: "assistant", content: reply(path, last?.content ?? "") };
  return Response.json({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: wantsTool ? "tool_calls" : "stop" }],
    usage: USAGE,
  });
}

function streamWords(model: string): Response {
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...WORDS.map((content) => chunk({ content })),
    chunk({}, "stop"),
    { ...base, choices: [], usage: USAGE },
  ];
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  const body = ReadableStream.from(events.map((data) => `data: ${data}\n\n`));
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "text/event-stream" },
  });
}

if (import.meta.main) {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
  }, async (request) => {
    const response = await handle(request);
    response.headers.set("cache-control", "no-transform"); // otherwise Deno compresses it
    return response;
  });
  process.stdin.on("end", () => Deno.exit(0)).resume(); // ends with the bench that started it
}
