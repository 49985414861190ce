import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { AnswerTooLarge, createBoundedFetch } from "../../../shared/http/fetch/bounded_fetch.ts";
import { partial, startProviderDouble } from "../../fakes/provider_double.ts";

const ADDRESS = "http://provider.example/";

/** A `fetch` that gives this answer, bounded. */
function bounded(answer: Response, maxBytes: number): Promise<Response> {
  return createBoundedFetch(() => Promise.resolve(answer), maxBytes)(ADDRESS);
}

Deno.test("an answer ends at the limit, whatever length it declares, and its source is cancelled", async () => {
  for (const headers of [{}, { "content-length": "1000" }, { "content-encoding": "gzip" }]) {
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
