import type { AddressInfo } from "node:net";
import express from "npm:express@5.2.1";
import * as validator from "npm:express-openapi-validator@5.6.2";

// deno-lint-ignore no-explicit-any -- Express and its middleware have no types here
type Any = any;

const LINES = "application/jsonl";

/** A proxy that checks all traffic of a service against the service's own description. */
export interface ValidatingProxy extends AsyncDisposable {
  readonly url: string;
  /** What went over the wire and is not described, one sentence each. */
  readonly violations: string[];
  /** `GET /runs/{id} 200`, for every answer that was described. */
  readonly seen: Set<string>;
}

/**
 * Starts it with the description that the service gives of itself; `headers` are sent to read it.
 * `checksRequests: false` lets through requests that are not described, to see what the service
 * answers to them.
 */
export async function startValidatingProxy(
  upstream: string,
  { headers: ownHeaders = {}, checksRequests = true }: {
    headers?: Record<string, string>;
    checksRequests?: boolean;
  } = {},
): Promise<ValidatingProxy> {
  const violations: string[] = [];
  const seen = new Set<string>();
  const apiSpec = await (await fetch(new URL("/openapi.json", upstream), { headers: ownHeaders }))
    .json();

  async function forward(request: Any, response: Any): Promise<void> {
    const { host: _, "content-length": __, ...headers } = request.headers;
    const answer = await fetch(new URL(request.originalUrl, upstream), {
      method: request.method,
      headers,
      ...(request.body !== undefined && {
        body: request.is(LINES) ? request.body : JSON.stringify(request.body),
      }),
    });
    const text = await answer.text();
    const what = `${request.method} ${request.openapi.openApiRoute} ${answer.status}`;
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    const described = request.openapi.schema.responses[answer.status];
    if (!described) throw new Error("the status is not described");
    if (text !== "" && !(type in (described.content ?? {}))) throw new Error(`not ${type}`);
    for (const [name, { required }] of Object.entries<Any>(described.headers ?? {})) {
      if (required && !answer.headers.has(name)) throw new Error(`the header ${name} is missing`);
    }
    seen.add(what);
    response.status(answer.status).set("content-type", answer.headers.get("content-type"));
    if (type.endsWith("json")) response.json(JSON.parse(text)); // the validator checks it here
    else response.end(text);
  }

  const app = express();
  app.use(express.json({ strict: false }), express.text({ type: LINES }));
  app.use(validator.middleware({
    apiSpec,
    validateRequests: checksRequests,
    validateResponses: true,
    validateSecurity: false,
  }));
  app.use((request: Any, response: Any, next: Any) => {
    forward(request, response).catch(next);
  });
  app.use((error: Any, request: Any, response: Any, _next: unknown) => {
    violations.push(`${request.method} ${request.originalUrl}: ${error.message}`);
    response.status(599).end(error.message);
  });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    violations,
    seen,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
