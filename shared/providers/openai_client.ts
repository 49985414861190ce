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

let loaded: typeof import("openai") | undefined;

/** Loads the package, which takes 130 ms; the first request does it, unless it was done before. */
export async function loadOpenAI(): Promise<typeof import("openai")> {
  return loaded ??= await loadApart(() => import("openai"));
}

/**
 * OpenAI's package as the client of any provider. Retries and timeouts are decided by our callers.
 * Answers are read here (`asResponse`): the package understands only what OpenAI itself sends, and
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
  class DirectClient extends Client {
    /**
     * With the headers that a call needs. The package's own would tell providers about this machine,
     * and building them takes longer than everything else that the package does for a call.
     */
    override buildRequest(
      { method, path, headers, body, signal }: Parameters<OpenAI["buildRequest"]>[0],
    ): ReturnType<OpenAI["buildRequest"]> {
      const sent = new Headers({ accept: "application/json", "user-agent": "assay" });
      if (apiKey) sent.set("authorization", `Bearer ${apiKey}`);
      for (const [name, value] of Object.entries(headers ?? {})) sent.set(name, value);
      const verb = method.toUpperCase();
      const req = { method: verb, headers: sent, body: body as string, signal: signal! };
      return Promise.resolve({ req, url: this.buildURL(path, undefined), timeout: this.timeout });
    }

    /** Without the package's timer and signal: each call has a `CallClock`. */
    override async fetchWithTimeout(
      url: string | URL | Request,
      init?: RequestInit,
    ): Promise<Response> {
      return await requireOk(await fetch(url, init));
    }
  }
  return new DirectClient({
    baseURL: baseUrl,
    apiKey: apiKey || "none", // required; `buildRequest` decides
    maxRetries: 0,
    logLevel: "off",
  });
}
