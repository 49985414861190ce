import type { Answer, ReceivedRequest } from "./provider_answers.ts";

export * from "./provider_answers.ts";

/** A provider that speaks real HTTP on loopback, so that sockets, timeouts and aborts are real. */
export interface ProviderDouble extends AsyncDisposable {
  readonly origin: string;
  /** What a provider is configured with: `{origin}/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Settles once `count` requests have come in. */
  received(count?: number): Promise<void>;
  /** Settles once the client has left `count` requests before their answer was whole. */
  aborted(count?: number): Promise<void>;
}

/** Answers each request with the next item of `script`, and with the last one from then on. */
export function startProviderDouble(script: Answer | Answer[]): ProviderDouble {
  const answers = [script].flat();
  const requests: ReceivedRequest[] = [];
  const arrivals = createTally();
  const departures = createTally();
  const ending = new AbortController();

  async function handle(incoming: Request): Promise<Response> {
    incoming.signal.addEventListener("abort", departures.add);
    const { pathname, search } = new URL(incoming.url);
    const request: ReceivedRequest = {
      method: incoming.method,
      path: pathname,
      search,
      headers: incoming.headers,
      body: parseBody(await incoming.text()),
      signal: AbortSignal.any([incoming.signal, ending.signal]),
    };
    const answer = answers[Math.min(requests.length, answers.length - 1)]!;
    requests.push(request);
    arrivals.add();
    const { body, status, headers } = await answer(request);
    const sent = new Response(body, { status, headers });
    sent.headers.set("cache-control", "no-transform"); // otherwise Deno compresses it
    return sent;
  }

  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    signal: ending.signal,
    onListen() {},
    onError: cut,
  }, handle);
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    received: (count = 1) => arrivals.reached(count),
    aborted: (count = 1) => departures.reached(count),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await server.finished;
    },
  };
}

/** An answer whose body fails cuts the connection. */
function cut(): Response {
  return new Response(new ReadableStream({ start: (body) => body.error(new Error("cut")) }));
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Counts, and lets others wait for a count. */
function createTally() {
  const steps = [Promise.withResolvers<void>()];
  return {
    add() {
      steps.at(-1)!.resolve();
      steps.push(Promise.withResolvers());
    },
    async reached(count: number): Promise<void> {
      for (let step = 0; step < count; step++) await steps[step]!.promise;
    },
  };
}
