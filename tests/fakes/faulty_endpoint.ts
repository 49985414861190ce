import { type RawAnswer, startRawServer } from "./raw_server.ts";
import { completionBody, completionChunks, type CompletionFields } from "./provider_answers.ts";

/** What can go wrong with a provider, by name. */
export const FAULTS = {
  "429": (response) => response.writeHead(429).end("slow down"),
  "429 in seconds": (response) => response.writeHead(429, { "retry-after": "7" }).end(),
  "429 by date": (response) =>
    response.writeHead(429, { "retry-after": "Wed, 21 Oct 2065 07:28:00 GMT" }).end(),
  "429 absurd": (response) => response.writeHead(429, { "retry-after": "-1e9 parsecs" }).end(),
  "500": (response) => response.writeHead(500).end('{"error": {"message": "raw words"}}'),
  "reset": (response) => void response.socket.destroy(),
  "half a body": (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": "1000" });
    response.write(WHOLE.slice(0, 40), () => response.socket.destroy());
  },
  "malformed JSON": (response) => response.writeHead(200, JSON_TYPE).end(`${WHOLE}}`),
  "another shape": (response) => response.writeHead(200, JSON_TYPE).end('{"ok": true}'),
  "an empty body": (response) => response.writeHead(200, JSON_TYPE).end(),
  "a body cut short": (response) => response.writeHead(200, JSON_TYPE).end(WHOLE.slice(0, 40)),
  "400": (response) => response.writeHead(400).end("raw words"),
  "a redirect elsewhere": (response) =>
    response.writeHead(302, { location: "https://login.example.com/" }).end(),
  "an HTML page": (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>raw words</h1>"),
  "an endless body": (response) => {
    response.writeHead(200, JSON_TYPE);
    pour(response, new Uint8Array(1 << 20).fill(32));
  },
  "a hang": () => {},
  "a hang inside the body": (response) => {
    response.writeHead(200, JSON_TYPE);
    response.write(WHOLE.slice(0, 40));
  },
  "a slow drip": (response) => {
    response.writeHead(200, JSON_TYPE);
    const timer = setInterval(() => response.write(" "), 5);
    response.socket.on("close", () => clearInterval(timer));
  },
  "a stream cut inside a character": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = completionChunks({ content: "Grüße 👋" }).slice(0, 3)
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    const bytes = new TextEncoder().encode(`${events}data: {"choices":[{"delta":{"content":"ü`);
    response.end(bytes.subarray(0, -1));
  },
} satisfies Record<string, (response: RawAnswer) => void>;

export type Fault = keyof typeof FAULTS;

/** Faults that only a timeout of the client ends. */
const HANGS: Fault[] = ["a hang", "a hang inside the body", "a slow drip"];

const JSON_TYPE = { "content-type": "application/json" };
const WHOLE = JSON.stringify(completionBody({ content: "fine" }));

export interface FaultyEndpoint extends AsyncDisposable {
  readonly baseUrl: string;
  /** `baseUrl` without its path. */
  readonly origin: string;
  /** Requests that came in. */
  readonly count: number;
  /** Requests that have neither been answered nor given up by their client. */
  readonly underWay: number;
  readonly openSockets: number;
}

export interface FaultyEndpointOptions {
  /** The fault of a call, counted from 1 over those to `path`. If unset, the message decides. */
  faultOf?: (call: number) => Fault | undefined;
  /** Every other path is 404. Unset: any path is served. */
  path?: string;
  /** The answer to a call without a fault; "fine" if it is unset. */
  answerOf?: (request: CompletionRequest) => CompletionFields;
  /** Called when a request begins to hang. */
  onHang?: () => void;
}

/** What an answer may depend on. */
export interface CompletionRequest {
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
}

/**
 * A model endpoint that fails as its user asks: a last message `reset: 17` gets a reset, one that
 * names no fault gets an answer.
 */
export async function startFaultyEndpoint(
  { faultOf, path, answerOf, onHang }: FaultyEndpointOptions = {},
): Promise<FaultyEndpoint> {
  let served = 0;
  const server = await startRawServer(({ url, body }, response) => {
    if (path !== undefined && url !== path) return response.writeHead(404).end();
    const call = JSON.parse(body);
    const content: string = call.messages?.at(-1)?.content ?? "";
    const name = faultOf?.(++served) ?? content.split(":")[0] as Fault;
    if (name in FAULTS) FAULTS[name](response);
    if (HANGS.includes(name)) onHang?.();
    if (name in FAULTS) return;
    if (!answerOf) response.writeHead(200, JSON_TYPE).end(WHOLE);
    else response.writeHead(200, JSON_TYPE).end(JSON.stringify(completionBody(answerOf(call))));
  });
  const { origin } = server;
  return {
    baseUrl: `${origin}/v1`,
    origin,
    get count() {
      return server.count;
    },
    get underWay() {
      return server.underWay;
    },
    get openSockets() {
      return server.openSockets;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** As fast as the client reads, until it leaves. */
function pour(response: RawAnswer, bytes: Uint8Array): void {
  if (response.socket.destroyed) return;
  response.write(bytes, () => setTimeout(() => pour(response, bytes), 0));
}
