import { errorMessage, type FieldError } from "../../shared/service/errors.ts";
import { tryParseJson } from "../../shared/service/fields.ts";
import type { Comparison } from "../figures/compare_stored.ts";
import type { Run } from "../run/view.ts";
import type { CliContext, ServiceNeed } from "./context.ts";

/** What the service answered instead of a result. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(readonly status: number, message: string, readonly errors: FieldError[] = []) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

interface CallOptions {
  query?: Query;
  /** Sent as JSON, unless it is text or arrives in pieces. */
  body?: unknown;
  headers?: Record<string, string>;
}

export type Api = Awaited<ReturnType<typeof connect>>;

/** The service that does the work of a command. */
export async function connect(context: CliContext, need: ServiceNeed) {
  const link = await context.openService(need, context.url);

  /** `route` is a method and a path. Throws `Refused` unless the answer is a success. */
  async function call(route: string, options: CallOptions = {}): Promise<Response> {
    const { query = {}, body, headers = {} } = options;
    const [method = "", path = ""] = route.split(" ");
    const named = Object.entries(query).filter(([, value]) =>
      value !== undefined && value !== null
    );
    const text = new URLSearchParams(named.map(([name, value]) => [name, String(value)]))
      .toString();
    const separator = path.includes("?") ? "&" : "?";
    const response = await link.send(text ? path + separator + text : path, {
      method,
      headers: { ...body !== undefined && { "content-type": "application/json" }, ...headers },
      ...body !== undefined && { body: toBody(body), duplex: "half" },
    });
    if (response.ok) return response;
    const problem = tryParseJson(await response.text()) as { detail?: string } | undefined;
    const { detail = `the service answered ${response.status}`, errors } = problem as
      & { detail?: string }
      & { errors?: FieldError[] } ?? {};
    throw new Refused(response.status, detail, errors);
  }

  async function json<T>(route: string, options?: CallOptions): Promise<T> {
    const text = (await Array.fromAsync(pieces(route, options))).join("");
    const value = tryParseJson(text);
    if (value === undefined) throw new Refused(400, "what answers is not the service: no JSON");
    return value as T;
  }

  /** The text of an answer while it arrives. */
  async function* pieces(route: string, options?: CallOptions): AsyncGenerator<string> {
    const { body } = await call(route, options);
    try {
      if (body) yield* textOf(body);
    } catch (error) {
      throw new Refused(500, `the answer of the service broke off: ${errorMessage(error)}`);
    }
  }

  return {
    call,
    json,
    pieces,
    /** The server-sent events of an answer. */
    async *events(route: string, options?: CallOptions) {
      let rest = "";
      for await (
        const piece of pieces(route, { ...options, headers: { accept: "text/event-stream" } })
      ) {
        const events = (rest + piece).split("\n\n");
        rest = events.pop()!;
        for (const text of events) {
          const field = (name: string) =>
            text.split("\n").find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
          const [event, data] = [field("event"), field("data")];
          if (event && data) yield { event, data: JSON.parse(data) };
        }
      }
    },
    /** One run without its result. */
    run: (name: string) => json<Run>(`GET ${runPath(name)}`, { query: { result: false } }),
    /** The runs of a group; `undefined` if no group has this id. */
    async group(id: string): Promise<Comparison | undefined> {
      if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
      try {
        return await json(`GET /compare`, { query: { group: id, pairs: false } });
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return undefined;
        throw error;
      }
    },
    findShutdowns: link.findShutdowns,
    [Symbol.asyncDispose]: () => link[Symbol.asyncDispose](),
  };
}

/** With the byte order mark of a CSV file. */
export function textOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<string> {
  return body.pipeThrough(new TextDecoderStream("utf-8", { ignoreBOM: true }));
}

function toBody(body: unknown): BodyInit {
  if (typeof body === "string") return body;
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body) {
    return ReadableStream.from(body as AsyncIterable<string>).pipeThrough(new TextEncoderStream());
  }
  return JSON.stringify(body);
}

/** The path of a run that is named by its id, `tag:NAME` or `latest`. */
export function runPath(name: string): string {
  return `/runs/${encodeURIComponent(name)}`;
}

/** A value as `--json` prints it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
