import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

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

/** Longer than any test. */
const KEPT_MS = 600_000;

/**
 * Answers each request with the next item of `script`, and with the last one from then on. It stands
 * on node:http, because `Deno.serve` (2.9.5) does not notice a client that leaves before the answer
 * has begun, unless the client's body was short and came in one packet.
 */
export async function startProviderDouble(script: Answer | Answer[]): Promise<ProviderDouble> {
  const answers = [script].flat();
  const requests: ReceivedRequest[] = [];
  const arrivals = createTally();
  const departures = createTally();
  const closing = new AbortController();

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const leaving = new AbortController();
    outgoing.on("close", () => {
      if (outgoing.writableEnded || outgoing.errored) return;
      leaving.abort();
      departures.add();
    });
    const url = new URL(incoming.url ?? "/", "http://double");
    const request: ReceivedRequest = {
      method: incoming.method ?? "",
      path: url.pathname,
      search: url.search,
      headers: new Headers(incoming.headers as Record<string, string>),
      body: parseBody(await readText(incoming)),
      signal: AbortSignal.any([leaving.signal, closing.signal]),
    };
    const answer = answers[Math.min(requests.length, answers.length - 1)]!;
    requests.push(request);
    arrivals.add();
    await send(await answer(request), outgoing);
  }

  // A connection that is closed for being idle, at the moment of a request, would be a 502.
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy()); // the client was killed
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    received: (count = 1) => arrivals.reached(count),
    aborted: (count = 1) => departures.reached(count),
    async [Symbol.asyncDispose]() {
      closing.abort(); // ends the answers that hang
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A body that fails cuts the connection, after everything before it has gone out. */
async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  try {
    for await (const bytes of response.body ?? []) {
      await new Promise((resolve) => outgoing.write(bytes, resolve));
    }
    outgoing.end();
  } catch (error) {
    outgoing.destroy(error as Error);
  }
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
