import { assert, assertEquals, assertRejects } from "@std/assert";
import { openEventStream, type Produce } from "../../../agent/answer/event_stream.ts";
import { streamAnswer } from "../../../agent/answer/streamed_answer.ts";
import { streamCompletion } from "../../../agent/openai/stream.ts";
import { isAbort } from "../../../shared/errors.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { readChunks, readEvents } from "../../fakes/events.ts";
import { until } from "../../fakes/until.ts";

const { signal } = new AbortController();

Deno.test("a silent stream opens by itself and sends comments", async () => {
  const silent: Produce = ({ signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  const body = await openEventStream(silent, { signal, keepAliveMs: 5 });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, ": keep-alive\n\n");
  assertEquals((await reader.read()).value, ": keep-alive\n\n");
  await reader.cancel();
});

Deno.test("a failure before the first event rejects", async () => {
  await assertRejects(
    () => openEventStream(() => Promise.reject(new TypeError("no")), { signal }),
    TypeError,
    "no",
  );
});

Deno.test("events pushed together are sent in their order, in one piece", async () => {
  const body = await openEventStream(async ({ push }) => {
    await Promise.all(["a", "b", "c"].map((data) => push({ data })));
  }, { signal });
  const texts = await Array.fromAsync(body.pipeThrough(new TextDecoderStream()));
  assertEquals(texts, ["data: a\n\ndata: b\n\ndata: c\n\n"]);
});

Deno.test("an event is sent without waiting for another", async () => {
  const isRead = Promise.withResolvers<void>();
  const body = await openEventStream(async ({ push }) => {
    for (const data of ["a", "b"]) {
      await push({ data });
      await isRead.promise;
    }
  }, { signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "data: a\n\n");
  isRead.resolve();
  assertEquals((await reader.read()).value, "data: b\n\n");
  assertEquals((await reader.read()).done, true);
});

Deno.test("a producer waits for a reader that reads nothing", async () => {
  const data = "x".repeat(1000);
  let pushed = 0;
  const body = await openEventStream(async ({ push }) => {
    for (;;) {
      await push({ data });
      pushed++;
    }
  }, { signal });
  await new Promise((resolve) => setTimeout(resolve, 20)); // it could push thousands
  assert(pushed < 20, `${pushed} events`);
  const reader = body.getReader();
  await reader.read();
  await until(() => pushed > 16);
  await reader.cancel();
});

Deno.test("a push that waits for its reader rejects when the reader leaves", async () => {
  const outcome = Promise.withResolvers<unknown>();
  const body = await openEventStream(async ({ push, signal }) => {
    try {
      for (;;) await push({ data: "x" });
    } catch (error) {
      outcome.resolve(error);
      assert(signal.aborted);
    }
  }, { signal });
  await body.cancel();
  assert(isAbort(await outcome.promise));
});

Deno.test("nothing is sent after the caller has left, even if a reader waits for it", async () => {
  const caller = new AbortController();
  const left = Promise.withResolvers<void>();
  const pushed = Promise.withResolvers<unknown>();
  const body = await openEventStream(async ({ push }) => {
    await push({ data: "first" });
    await left.promise;
    pushed.resolve(await push({ data: "second" }).catch((error) => error));
  }, { signal: caller.signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader.read()).value, "data: first\n\n");
  const next = reader.read();
  await new Promise((resolve) => setTimeout(resolve)); // the stream knows that it is read
  caller.abort();
  left.resolve();
  assert(isAbort(await pushed.promise));
  assertEquals((await next).done, true);
});

Deno.test("the producer can see that the stream has opened, also through a comment", async () => {
  const seen: boolean[] = [];
  const body = await openEventStream(async ({ isOpen }) => {
    seen.push(isOpen());
    await until(() => isOpen());
    seen.push(isOpen());
  }, { signal, keepAliveMs: 5 });
  await new Response(body).text();
  assertEquals(seen, [false, true]);
});

const OPTIONS = {
  signal,
  context: { requestId: "r1", fields: {}, logAfter: () => {} },
  keepAliveMs: 5,
};

const REPAIRS = {
  paired: 0,
  merged: 0,
  bridged: 0,
  opened: 0,
  filled: 0,
  dropped: 0,
  cut: 0,
  system: 0,
  unanswered: 0,
};

/** Fails without an event, long after a comment has opened the stream. */
async function failLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  throw new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
}

Deno.test("a run that fails after the first comment ends with the problem as an event", async () => {
  const response = await streamAnswer(
    { model: () => "a/b", repairs: REPAIRS, start: failLate },
    OPTIONS,
  );
  const events = await Array.fromAsync(readEvents(response));
  assertEquals(response.status, 200);
  assertEquals(events.map(({ event, data }) => [event, data.code]), [["error", "provider_error"]]);
});

Deno.test("a completion that fails after the first comment ends with an error chunk", async () => {
  const source = { model: () => "a/b", headers: () => ({}), start: failLate };
  const options = { ...OPTIONS, includeUsage: false, showTools: false };
  const chunks = await readChunks(await streamCompletion(source, options));
  assertEquals(chunks.map(({ error }) => error.code), ["provider_error"]);
});
