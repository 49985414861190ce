import { assert } from "@std/assert";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connectRaw } from "../../fakes/raw_client.ts";

const BEGIN = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\n\r\nb";

Deno.test("node:http still keeps a connection for ever whose body goes on after its answer", async () => {
  const arrived: ((outgoing: ServerResponse) => void)[] = [];
  const server = createServer(
    { requestTimeout: 100, connectionsCheckingInterval: 10 },
    (_incoming, outgoing) => arrived.shift()!(outgoing),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  async function begin() {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    arrived.push(resolve);
    const client = await connectRaw(url);
    await client.say(BEGIN);
    return { client, outgoing: await promise };
  }
  const answered = await begin();
  await new Promise<void>((resolve) => answered.outgoing.end("no need to read", resolve));
  const waiting = await begin();
  await waiting.client.heard; // the timeout closes it, and it is the later of the two
  const first = await Promise.race([answered.client.heard, begin()]);
  assert(
    typeof first !== "string",
    `Deno ${Deno.version.deno} closes the connection of a body that goes on after its answer: delete ` +
      "`closeUnreadBody`, if its tests hold without it, and then this test.",
  );
  for (const { client } of [answered, waiting, first]) client[Symbol.dispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
