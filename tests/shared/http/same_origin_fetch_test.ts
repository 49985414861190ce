import { assertEquals } from "@std/assert";
import { createSameOriginFetch } from "../../../shared/http/fetch/same_origin_fetch.ts";

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
    const response = await createSameOriginFetch(fetch)(
      `${server.url}/to?status=${status}&location=/there`,
      init,
    );
    assertEquals(await response.text(), "arrived");
    assertEquals(server.seen[1], "POST /there Bearer secret secret text");
  });

  Deno.test(`a ${status} to another origin is handed back, and nothing is sent there`, async () => {
    await using server = startServer();
    await using thief = startServer();
    const response = await createSameOriginFetch(fetch)(
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
    const response = await createSameOriginFetch(circle)("http://host/again", init);
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
    const response = await createSameOriginFetch(created)("http://host/things", init);
    assertEquals([response.status, calls], [status, 1]);
  }
});
