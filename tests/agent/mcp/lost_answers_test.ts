import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createMcpConnect } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { createWatchedFetch } from "../../../agent/mcp/lost_answers.ts";
import { type Answer, startProviderDouble } from "../../fakes/provider_double.ts";

const EVENTS = { headers: { "content-type": "text/event-stream" } };
const event = (message: unknown) => `data: ${JSON.stringify(message)}\n\n`;
const NOTE = {
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data: "" },
};
const REQUEST = { jsonrpc: "2.0", id: 7, method: "tools/call", params: {} };

/** A stream of these pieces, which then ends or breaks. */
function streamOf(pieces: string[], { isBroken = false } = {}): ReadableStream<Uint8Array> {
  const source = pieces.map((piece) => new TextEncoder().encode(piece));
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve)); // what has come is read before it breaks
      const piece = source.shift();
      if (piece) controller.enqueue(piece);
      else if (isBroken) controller.error(new Error("reset"));
      else controller.close();
    },
  });
}

/** The ids that are reported as lost when a request is answered so, once its answer has been read. */
async function lostOf(answer: Response, init: RequestInit = {}): Promise<unknown[]> {
  const lost: unknown[] = [];
  const watched = createWatchedFetch(() => Promise.resolve(answer), (id) => void lost.push(id));
  const body = JSON.stringify(REQUEST);
  const response = await watched("http://host/mcp", { method: "POST", body, ...init });
  await response.text().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve));
  return lost;
}

const answered = event({ jsonrpc: "2.0", id: 7, result: {} });

const STREAMS: [what: string, pieces: string[], lost: number[]][] = [
  ["ends without the answer", [": hello\n\n", event(NOTE)], [7]],
  ["has another request of the same id only", [event({ ...REQUEST, method: "ping" })], [7]],
  ["has the answer", [event(NOTE), answered], []],
  ["has the answer in pieces", [...answered], []],
  ["has the answer with its id as a string", [event({ jsonrpc: "2.0", id: "7", result: {} })], []],
  ["has an error as the answer", [event({ jsonrpc: "2.0", id: 7, error: {} })], []],
  ["can be resumed", ["id: e1\ndata:\n\n"], []],
  ["has an id without an event", ["id: e1\n\n"], [7]],
  ["has an id, and then an event without one,", ["id: e1\n\n", event(NOTE)], [7]],
  ["ends before the blank line of its answer", [answered.trimEnd(), "\n"], [7]],
];
for (const [what, pieces, lost] of STREAMS) {
  Deno.test(`a request whose stream ${what} is ${lost.length > 0 ? "" : "not "}lost`, async () => {
    for (const isBroken of [false, true]) {
      assertEquals(await lostOf(new Response(streamOf(pieces, { isBroken }), EVENTS)), lost);
    }
  });
}

Deno.test("only requests are watched, only streams, and none that the session has ended itself", async () => {
  const empty = () => new Response(streamOf([]), EVENTS);
  const notification = JSON.stringify(NOTE);
  assertEquals(await lostOf(empty(), { body: notification }), []);
  assertEquals(await lostOf(empty(), { method: "GET", body: null }), []);
  assertEquals(await lostOf(Response.json({})), []);
  assertEquals(await lostOf(empty(), { signal: AbortSignal.abort() }), []);
  assertEquals(await lostOf(empty()), [7]);
});

Deno.test("a request that was cancelled is not lost when its stream ends", async () => {
  const cut = Promise.withResolvers<void>();
  const lost: unknown[] = [];
  const answer = (_input: unknown, init?: RequestInit) => {
    if (!String(init?.body).includes("tools/call")) return new Response(null, { status: 202 });
    const body = streamOf([event(NOTE)]);
    return new Response(
      body.pipeThrough(new TransformStream({ flush: () => cut.promise })),
      EVENTS,
    );
  };
  const watched = createWatchedFetch(
    (input, init) => Promise.resolve(answer(input, init)),
    (id) => void lost.push(id),
  );
  const send = (message: unknown) =>
    watched("http://host/mcp", { method: "POST", body: JSON.stringify(message) });
  const response = await send(REQUEST);
  await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
  cut.resolve();
  await response.text();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(lost, []);
});

/** What comes when the stream of request 7, cut within the event after `e1`, is asked for again. */
async function lostWhenResumed(...answers: (Response | Error)[]): Promise<unknown[][]> {
  const lost: unknown[] = [];
  const cut = new Response(streamOf(["id: e1\ndata:\n\n", 'id: e2\ndata: {"jso']), EVENTS);
  const coming = [cut, ...answers];
  const watched = createWatchedFetch(() => {
    const answer = coming.shift()!;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }, (id) => void lost.push(id));
  const read = async (init: RequestInit) => {
    const response = await watched("http://host/mcp", init).catch(() => undefined);
    await response?.text();
    await new Promise((resolve) => setTimeout(resolve));
    return [...lost];
  };
  await read({ method: "POST", body: JSON.stringify(REQUEST) });
  const seen: unknown[][] = [];
  for (const id of ["e1", "e1", "e2"].slice(0, answers.length)) {
    seen.push(await read({ headers: { "last-event-id": id } }));
  }
  return seen;
}

Deno.test("a request whose stream cannot be resumed is lost once the SDK gives up", async () => {
  const refused = (status: number) => new Response(null, { status });
  assertEquals(await lostWhenResumed(refused(405)), [[7]]);
  for (const status of [404, 429, 503]) {
    assertEquals(await lostWhenResumed(refused(status), refused(status)), [[], [7]]);
  }
  assertEquals(await lostWhenResumed(new Error("reset"), new Error("reset")), [[], [7]]);
});

Deno.test("a request whose stream is resumed is lost only if the rest has no answer either", async () => {
  const rest = (...pieces: string[]) => new Response(streamOf(pieces), EVENTS);
  assertEquals(await lostWhenResumed(rest(answered)), [[]]);
  for (const status of [429, 503]) {
    const busy = new Response(null, { status });
    assertEquals(await lostWhenResumed(busy, rest(answered)), [[], []]);
  }
  assertEquals(await lostWhenResumed(rest(event(NOTE))), [[7]]);
  const again = rest("id: e2\ndata:\n\n");
  assertEquals(await lostWhenResumed(again, new Response(null), rest(answered)), [[], [], []]);
});

Deno.test("a call whose stream is cut fails if it is not resumed, and the session is used on", async () => {
  const cuts = [event(NOTE), `retry: 1\nid: e1\ndata:\n\nid: e2\n${event(NOTE).trimEnd()}`];
  const answer: Answer = ({ method: verb, body }) => {
    if (verb !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = body;
    if (id === undefined) return new Response(null, { status: 202 });
    const reply = (result: unknown) => event({ jsonrpc: "2.0", id, result });
    if (method === "initialize") {
      const serverInfo = { name: "double", version: "1" };
      const { protocolVersion } = params;
      return new Response(
        reply({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
        EVENTS,
      );
    }
    const content = [{ type: "text", text: "sunny" }];
    return new Response(cuts.shift() ?? reply({ content }), EVENTS);
  };
  await using double = await startProviderDouble(answer);
  const entry = { url: `${double.origin}/mcp` };
  const { servers: [server] } = parseMcpConfig(JSON.stringify({ mcpServers: { it: entry } }));
  const errors: string[] = [];
  const session = await createMcpConnect()(server!, {
    onClose: (reason) => errors.push(reason),
    onError: () => errors.push("error"),
    onToolsChanged: () => {},
  });
  for (const _ of [...cuts]) {
    const error = await assertRejects(() => session.callTool("weather", { args: {} }), Error);
    assertStringIncludes(error.message, "its answer was cut off");
  }
  assertEquals(await session.callTool("weather", { args: {} }), "sunny");
  assertEquals(errors, []);
  await session.close();
});
