/** A model with OpenAI's protocol that counts its calls and fails as configured. */
export interface CountingEndpoint extends AsyncDisposable {
  readonly url: string;
  /** How often each question was asked, by its text. */
  readonly calls: ReadonlyMap<string, number>;
  /** The time of the latest call, as of `now`. */
  readonly lastCallAt: number;
  readonly total: number;
}

export interface CountingEndpointOptions {
  /** How long an answer takes. */
  latencyMs: number;
  /** The part of calls that fail: with 500, 429, a closed connection, or no JSON. */
  faultRate?: number;
  random?: () => number;
  now?: () => number;
}

const FAULTS = ["500", "429", "closed", "text"] as const;

export function startCountingEndpoint(
  { latencyMs, faultRate = 0, random = Math.random, now = () => performance.now() }:
    CountingEndpointOptions,
): CountingEndpoint {
  const calls = new Map<string, number>();
  let lastCallAt = 0;
  let total = 0;

  async function answer(request: Request): Promise<Response> {
    const { messages, model } = await request.json();
    const question = String(messages.at(-1).content);
    calls.set(question, (calls.get(question) ?? 0) + 1);
    lastCallAt = now();
    total++;
    const fault = random() < faultRate ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined;
    if (fault === "500" || fault === "429") return new Response(null, { status: Number(fault) });
    if (fault === "text") return new Response("<html>busy</html>");
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    if (fault === "closed") {
      const broken = new ReadableStream({ pull: (controller) => controller.error("closed") });
      return new Response(broken);
    }
    return Response.json({
      model,
      choices: [{ message: { role: "assistant", content: `reply to ${question}` } }],
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    });
  }

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response(null) },
    answer,
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    calls,
    get lastCallAt() {
      return lastCallAt;
    },
    get total() {
      return total;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
