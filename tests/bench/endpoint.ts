/**
 * A model endpoint in a process of its own, so that its work is not counted as ours. It answers
 * `/delay/<ms>/v1/chat/completions` after that many milliseconds, with a tool call where the
 * request offers tools and the user says "use a tool", and in pieces where a stream is asked for.
 * Prints its port.
 */
import process from "node:process";

interface Body {
  model: string;
  messages: { role: string; content: string }[];
  tools?: unknown[];
  stream?: boolean;
}

const WORDS = "Your order was shipped on Monday and arrives on Thursday.".match(/\S+\s*/g) ?? [];
const USAGE = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };

async function handle(request: Request): Promise<Response> {
  const delay = Number(/^\/delay\/(\d+)\//.exec(new URL(request.url).pathname)?.[1] ?? 0);
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
    : { role: "assistant", content: WORDS.join("") };
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
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handle);
  await Deno.stdout.write(new TextEncoder().encode(`${server.addr.port}\n`));
  process.stdin.on("end", () => Deno.exit(0)).resume(); // ends with the bench that started it
}
