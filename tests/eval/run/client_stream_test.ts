import { assertEquals } from "@std/assert";
import { createClientStream } from "../../../eval/run/events/client_stream.ts";
import { callRoute, evalService, startAsync, THREE_TURNS } from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { until } from "../../fakes/until.ts";

Deno.test("proxies are told to pass the events of a run on at once and uncompressed", async () => {
  const { service } = evalService(() => "yes");
  const id = await startAsync(service, { test_batch: THREE_TURNS });
  const { headers, body } = await service(new Request(`http://127.0.0.1:8080/runs/${id}/events`));
  assertEquals(headers.get("x-accel-buffering"), "no"); // nginx
  assertEquals(headers.get("cache-control"), "no-cache, no-transform");
  await new Response(body).text();
});

interface Client {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  connection: AbortController;
}

const cancel = ({ reader }: Client) => reader.cancel();
const disconnect = ({ connection }: Client) => connection.abort();

/** A client that waits for the next event has a read under way. */
async function waitFirst({ reader }: Client): Promise<void> {
  reader.read().catch(() => {});
  await moment();
}

const WAYS: Record<string, (client: Client) => unknown> = {
  "cancels between two events": cancel,
  "disconnects between two events": disconnect,
  "cancels while it waits for an event": (client) => waitFirst(client).then(() => cancel(client)),
  "disconnects while it waits for an event": (client) =>
    waitFirst(client).then(() => disconnect(client)),
};

const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

for (const [way, leave] of Object.entries(WAYS)) {
  Deno.test(`the turns of a run are deleted with it after a client ${way}`, async () => {
    const gate = gatedTarget();
    const { service, store } = evalService(() => "", gate);
    const id = await startAsync(service, { test_batch: THREE_TURNS });
    await gate.reached(1);
    gate.answer(0);
    await gate.reached(2);
    const connection = new AbortController();
    const { body } = await service(
      new Request(`http://127.0.0.1:8080/runs/${id}/events`, { signal: connection.signal }),
    );
    const reader = body!.getReader();
    for (let event = 0; event < 3; event++) await reader.read(); // progress, turn, progress
    await leave({ reader, connection });
    await callRoute(service, `POST /runs/${id}/cancel`);
    assertEquals((await callRoute(service, `DELETE /runs/${id}`)).status, 204);
    await until(async () => (await store.tally(id)).done === 0);
  });

  Deno.test(`a stream releases what it holds after a client ${way}`, async () => {
    const connection = new AbortController();
    let isHeld = false;
    async function* write(left: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      using held = new DisposableStack();
      held.defer(() => isHeld = false);
      isHeld = true;
      yield new Uint8Array(1);
      await new Promise((resolve) => left.addEventListener("abort", resolve));
      yield new Uint8Array(1); // too late for the client
    }
    const reader = createClientStream(connection.signal, write).body.getReader();
    await reader.read();
    assertEquals(isHeld, true);
    await leave({ reader, connection });
    await until(() => !isHeld);
  });
}
