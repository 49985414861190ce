import { assertEquals } from "@std/assert";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerInTurn } from "../../../shared/http/server/in_turn.ts";
import { connectRaw } from "../../fakes/raw_client.ts";
import { until } from "../../fakes/until.ts";

Deno.test("what a client sends ahead is parsed request by request, when the one before is answered", async () => {
  const held: ServerResponse[] = [];
  const inTurn = answerInTurn((_incoming, outgoing) => void held.push(outgoing));
  let parsed = 0;
  const server = createServer((incoming, outgoing) => {
    parsed++;
    inTurn.listener(incoming, outgoing);
  });
  server.on("connection", inTurn.watch);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  using client = await connectRaw(`http://127.0.0.1:${port}`);
  const ask = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  await client.say(`${`${ask}\r\n`.repeat(299)}${ask}connection: close\r\n\r\n`);
  for (let answered = 0; answered < 300; answered++) {
    const outgoing = await until(() => held.shift());
    assertEquals(parsed, answered + 1);
    outgoing.end("ok");
  }
  assertEquals((await client.heard).match(/HTTP\/1\.1 200/g)?.length, 300);
  await new Promise((resolve) => server.close(resolve));
});
