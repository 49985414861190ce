import { assertStringIncludes } from "@std/assert";
import { startServiceProcess } from "../../fakes/service_process.ts";

const HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
  "x-model-id: demo/assistant\r\nconnection: close\r\n";

/** More than sockets buffer: whoever is not read cannot send it. */
const BODY = "x".repeat(20_000_000);

const REQUESTS = {
  "its length is declared": `${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`,
  "it comes in chunks": `${HEAD}transfer-encoding: chunked\r\n\r\n${
    BODY.length.toString(16)
  }\r\n${BODY}\r\n0\r\n\r\n`,
};

Deno.test("a client that sends all of a body that is too large reads the answer after it", async (t) => {
  await using agent = await startServiceProcess("agent", {
    environment: { MAX_BODY_BYTES: "100000" },
  });
  const { hostname, port } = new URL(agent.url);
  for (const [what, request] of Object.entries(REQUESTS)) {
    await t.step(what, async () => {
      using connection = await Deno.connect({ hostname, port: Number(port) });
      const bytes = new TextEncoder().encode(request);
      for (let sent = 0; sent < bytes.length;) {
        sent += await connection.write(bytes.subarray(sent)); // throws if the other end has closed
      }
      const answer = await new Response(connection.readable).text();
      assertStringIncludes(answer, "HTTP/1.1 413");
      assertStringIncludes(answer, '"code":"body_too_large"');
    });
  }
});
