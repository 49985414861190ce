import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AnswerTooLarge, createOutgoingFetch } from "../../../shared/http/fetch/outgoing_fetch.ts";
import { partial, startProviderDouble } from "../../fakes/provider_double.ts";

const ADDRESS = "http://provider.example/";

/** This answer, bounded. */
function bounded(answer: Response, maxBytes: number): Promise<Response> {
  return createOutgoingFetch({ connect: () => Promise.resolve(answer), maxBytes })(ADDRESS);
}

Deno.test("an answer ends at the limit, whatever length it declares, and its source is cancelled", async () => {
  for (const headers of [{}, { "content-length": "1000" }]) {
    const cancelled = Promise.withResolvers<void>();
    let sent = 0;
    const long = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(100));
        if (++sent === 20) controller.close();
      },
      cancel: () => cancelled.resolve(),
    });
    const response = await bounded(new Response(long, { headers }), 500);
    await assertRejects(() => response.text(), AnswerTooLarge, "over 500 bytes");
    await cancelled.promise;
  }
});

Deno.test("an answer within the limit is complete, with its status and headers", async () => {
  const answer = new Response("fine", { status: 201, headers: { "x-own": "1" } });
  const response = await bounded(answer, 4);
  assertEquals([response.status, response.headers.get("x-own")], [201, "1"]);
  assertEquals(await response.text(), "fine");
});

Deno.test("an answer that declares a smaller length is passed through as it is", async () => {
  const answer = new Response("fine", { headers: { "content-length": "4" } });
  assertStrictEquals(await bounded(answer, 4), answer);
  await answer.text();
});

Deno.test("an abort ends the reading also when the first response was collected", async () => {
  await using endpoint = await startProviderDouble(partial(["begun"], { end: "hang" }));
  const script = new URL("../../fakes/collected_response.ts", import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--v8-flags=--expose-gc", script, endpoint.baseUrl],
  }).output();
  const text = new TextDecoder();
  assertEquals([text.decode(stdout), text.decode(stderr)], ["AbortError\n", ""]);
});

Deno.test("a request whose connection is reset is sent once, with its length", async () => {
  const lengths: (string | undefined)[] = [];
  const server = createServer((request) => {
    lengths.push(request.headers["content-length"]);
    request.socket.resetAndDestroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const send = createOutgoingFetch();
    await assertRejects(() => send(`http://127.0.0.1:${port}`, { method: "POST", body: "{}" }));
    assertEquals(lengths, ["2"]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("the text arrives as it is, also after a redirect", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/there") return void request.pipe(response);
    request.resume().once("end", () => response.writeHead(307, { location: "/there" }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const send = createOutgoingFetch();
    for (const body of ["", "é", "long ".repeat(50_000)]) {
      const response = await send(`http://127.0.0.1:${port}`, { method: "POST", body });
      assertEquals(await response.text(), body);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on loopback that redirects `/to?…` and tells what arrived anywhere else. */
function startServer() {
  const seen: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const url = new URL(request.url);
      const body = await request.text();
      seen.push(
        `${request.method} ${url.pathname} ${request.headers.get("authorization")} ${body}`,
      );
      const location = url.searchParams.get("location");
      if (location === null) return new Response("arrived");
      return new Response(null, {
        status: Number(url.searchParams.get("status")),
        headers: { location },
      });
    },
  );
  return {
    seen,
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const init = { method: "POST", body: "secret text", headers: { authorization: "Bearer secret" } };

for (const status of [301, 302, 307, 308]) {
  Deno.test(`a ${status} within the origin is followed with method, body and credential`, async () => {
    await using server = startServer();
    const response = await createOutgoingFetch()(
      `${server.url}/to?status=${status}&location=/there`,
      init,
    );
    assertEquals(await response.text(), "arrived");
    assertEquals(server.seen[1], "POST /there Bearer secret secret text");
  });

  Deno.test(`a ${status} to another origin is handed back, and nothing is sent there`, async () => {
    await using server = startServer();
    await using thief = startServer();
    const response = await createOutgoingFetch()(
      `${server.url}/to?status=${status}&location=${thief.url}/`,
      init,
    );
    await response.body?.cancel();
    assertEquals(response.status, status);
    assertEquals(thief.seen, []);
    // The danger is real: a plain fetch would have gone there.
    await (await fetch(`${server.url}/to?status=${status}&location=${thief.url}/`, init)).text();
    assertEquals(thief.seen.length, 1);
  });
}

Deno.test("a circle of redirects ends, and is told from one that leads elsewhere", async () => {
  for (const location of ["/again", "http://host/again", "http://host//other.example/again"]) {
    let calls = 0;
    const circle: typeof fetch = () => {
      calls++;
      return Promise.resolve(new Response(null, { status: 307, headers: { location } }));
    };
    const response = await createOutgoingFetch({ connect: circle })("http://host/again", init);
    const { status, headers } = response;
    assertEquals([status, headers.get("location"), calls], [307, "/", 6]);
  }
});

Deno.test("an answer that is no redirect is handed back, also if it names a location", async () => {
  for (const status of [200, 201, 299, 400, 503]) {
    let calls = 0;
    const created: typeof fetch = () => {
      calls++;
      return Promise.resolve(new Response(null, { status, headers: { location: "/new" } }));
    };
    const response = await createOutgoingFetch({ connect: created })("http://host/things", init);
    assertEquals([response.status, calls], [status, 1]);
  }
});
