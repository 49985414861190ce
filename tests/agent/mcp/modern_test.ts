import { assertEquals } from "@std/assert";
import { withRequestScope } from "../../../shared/service/ops/tracing.ts";
import { connectMcp } from "../../fakes/connect_mcp.ts";
import { createModernServer } from "../../fakes/modern_server.ts";
import { until } from "../../fakes/until.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/** The server over HTTP, with the requests that it has received. */
function serveModern() {
  const { fetch, changeTools } = createModernServer();
  const requests: Request[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    requests.push(request);
    return fetch(request);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    requests,
    changeTools,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("a server over HTTP is spoken to in the version of 2026-07-28, and sees the caller's trace", async () => {
  await using server = serveModern();
  const { session } = await connectMcp({ url: server.url });
  assertEquals((await session.listTools()).tools.map(({ name }) => name), ["era"]);
  const request = new Request(server.url, { headers: { traceparent: TRACEPARENT } });
  const result = await withRequestScope(request, {
    requestId: "r",
    work: () => session.callTool("era", { args: { word: "it is" } }),
  });
  assertEquals(result, `it is modern ${TRACEPARENT}`);
  await session.ping();
  const call = server.requests.find(({ headers }) => headers.get("mcp-method") === "tools/call")!;
  assertEquals(
    ["mcp-name", "mcp-protocol-version", "mcp-session-id"].map((name) => call.headers.get(name)),
    ["era", "2026-07-28", null],
  );
  await session.close();
});

Deno.test("a server of 2026-07-28 tells on a stream of its own that its tools have changed", async () => {
  await using server = serveModern();
  const { session, events } = await connectMcp({ url: server.url });
  const listens = () =>
    server.requests.some(({ headers }) => headers.get("mcp-method") === "subscriptions/listen");
  await until(listens, { what: "the stream is open" });
  await until(() => {
    server.changeTools(); // the request may have arrived before it is subscribed
    return events.includes("changed");
  }, { what: "the change is told" });
  await session.close();
});
