import type { OpenAI } from "openai";
import { loadApart } from "../lazy.ts";
import { requireOk } from "./answer.ts";

/** Sends requests to an OpenAI-compatible address. */
export interface OpenAIClient {
  /**
   * Sends a request to a path below the base address; with a body, which is JSON, by `POST`. Throws
   * what `diagnose` reads, unless it is answered with 2xx.
   */
  send(path: string, request: ClientRequest): Promise<Response>;
}

interface ClientRequest {
  body?: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

interface OpenAIClientOptions {
  /** May carry a query, which then goes with every request. */
  baseUrl: string;
  /** Without one, no `authorization` is sent. */
  apiKey?: string | undefined;
  /** See `createOutgoingFetch`. */
  fetch: typeof globalThis.fetch;
}

/** What the package would tell providers about this machine and its own retries. */
const UNSENT = ["Arch", "Lang", "OS", "Package-Version", "Retry-Count", "Runtime"]
  .concat("Runtime-Version", "Timeout").map((name) => [`X-Stainless-${name}`, null]);

let loaded: typeof import("openai") | undefined;

/** Loads the package, which takes 130 ms; the first request does, if nobody has before. */
export async function loadOpenAI(): Promise<typeof import("openai")> {
  return loaded ??= await loadApart(() => import("openai"));
}

/**
 * OpenAI's package as the client of any provider. Retries and timeouts are decided by our callers.
 * Answers are taken as they come (`asResponse`): the package reads only what OpenAI itself sends, and
 * others send errors in other shapes or with status 200, events that were not asked for, and JSON
 * under other content types.
 */
export function createOpenAIClient(options: OpenAIClientOptions): OpenAIClient {
  let client: OpenAI | undefined;

  return {
    async send(path, { body, headers, signal }) {
      const { APIError, OpenAI } = loaded ?? await loadOpenAI();
      client ??= create(OpenAI, options);
      const type = body !== undefined && { "content-type": "application/json" };
      const request = { signal, headers: { ...headers, ...type } };
      try {
        const answer = body === undefined
          ? client.get(path, request)
          : client.post(path, { ...request, body });
        return await answer.asResponse();
      } catch (error) {
        throw error instanceof APIError && error.cause !== undefined ? error.cause : error;
      }
    },
  };
}

function create(
  Client: typeof OpenAI,
  { baseUrl, apiKey, fetch }: OpenAIClientOptions,
): OpenAI {
  /** Each call has a clock of its own: it needs neither a second timer nor a second signal. */
  class DirectClient extends Client {
    override async fetchWithTimeout(
      url: string | URL | Request,
      { method = "get", ...init }: RequestInit = {},
    ): Promise<Response> {
      return await requireOk(await fetch(url, { ...init, method: method.toUpperCase() }));
    }
  }
  return new DirectClient({
    baseURL: baseUrl,
    apiKey: apiKey || "none",
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    defaultHeaders: {
      ...Object.fromEntries(UNSENT),
      "user-agent": "assay",
      ...(!apiKey && { authorization: null }),
    },
  });
}
