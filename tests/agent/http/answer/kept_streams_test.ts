import { assertEquals, assertRejects } from "@std/assert";
import { createKeptStreams } from "../../../../agent/http/answer/kept_streams.ts";
import { openEventStream, type Produce } from "../../../../agent/http/answer/event_stream.ts";
import { agentRequestOf, agentService } from "../../../fakes/agent_service.ts";
import { completionChunks, sse, startProviderDouble } from "../../../fakes/provider_double.ts";
import { startServiceProcess } from "../../../fakes/service_process.ts";
import { until } from "../../../fakes/until.ts";
import { createScriptedProvider } from "../../../fakes/scripted_provider.ts";

const EVENTS = { accept: "text/event-stream" };
const BODY = { messages: [{ type: "human", content: "Hi" }] };

/** Reads a stream until it has shown a text. */
async function readUntil(response: Response, shown: string): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(shown)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended without ${shown}: ${text}`);
    text += value;
  }
  await reader.cancel();
  return text;
}

Deno.test("a stream that broke is taken up behind the last event that arrived, and its run goes on", async () => {
  const rest = Promise.withResolvers<void>();
  const [first, ...others] = completionChunks({ content: "one two" });
  await using hub = await startProviderDouble(async (request) => {
    const whole = sse([first, ...others])(request);
    await rest.promise;
    return whole;
  });
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, API_KEYS: "ada:k1,bob:k2" },
  });
  const headers = {
    ...EVENTS,
    "content-type": "application/json",
    "x-model-id": "a/b",
    "x-agent-resume": "true",
    "x-api-key": "k1",
  };
  const leaving = new AbortController();
  const asked = fetch(agent.url, {
    method: "POST",
    headers,
    body: JSON.stringify(BODY),
    signal: leaving.signal,
  });
  await hub.received();
  rest.resolve();
  const response = await asked;
  const id = response.headers.get("x-agent-stream")!;
  const text = await readUntil(response, "event: token");
  leaving.abort();
  assertEquals(/^id: (.*)$/m.exec(text)?.[1], `${id}/1`);

  const resume = (key: string, last: string) =>
    fetch(`${agent.url}/streams/${id}`, {
      headers: { "x-api-key": key, ...(last && { "last-event-id": last }) },
    });
  const again = await (await resume("k1", `${id}/1`)).text();
  assertEquals(/^id: (.*)$/m.exec(again)?.[1], `${id}/2`);
  assertEquals([...again.matchAll(/^event: (done|message)$/gm)].length, 2);
  const whole = await (await resume("k1", "")).text();
  assertEquals(/^id: (.*)$/m.exec(whole)?.[1], `${id}/1`);
  assertEquals(hub.requests.length, 1);
  const other = await resume("k2", "");
  assertEquals([other.status, (await other.json()).code], [404, "not_found"]);
});

Deno.test("without the header nothing is kept", async () => {
  const { service } = agentService(createScriptedProvider({ content: "one two" }));
  const response = await service(agentRequestOf(BODY, { headers: EVENTS }));
  assertEquals(response.headers.get("x-agent-stream"), null);
  assertEquals((await response.text()).includes("id: "), false);
});

/** Keeps one stream, and reads what there is of it. */
function keepOne(produce: Produce, options: Parameters<typeof createKeptStreams>[0]) {
  const streams = createKeptStreams(options);
  let ended = 0;
  const read = streams.keep({
    id: "s",
    caller: "",
    produce,
    sendError: (push, error) => push({ data: String(error) }),
    onEnd: () => ended++,
  });
  const never = new AbortController().signal;
  const open = async (produce: Produce) =>
    await new Response(await openEventStream(produce, { signal: never })).text();
  return { streams, open: () => open(read), reopen: () => open(resumed()), ended: () => ended };
  function resumed(): Produce {
    const reader = streams.resume({ id: "s", caller: "" });
    if (!reader) throw new Error("it is not kept");
    return reader;
  }
}

Deno.test("a stream is forgotten, and its run stopped, once it has had no reader for a while", async () => {
  let signal!: AbortSignal;
  const kept = keepOne(async (outlet) => {
    signal = outlet.signal;
    await outlet.push({ data: "1" });
  }, { keptMs: 1 });
  assertEquals(await kept.open(), "id: s/1\ndata: 1\n\n");
  await until(() => signal.aborted);
  assertEquals([kept.ended(), kept.streams.has("s", "")], [1, false]);
});

Deno.test("of a long stream the first events are dropped, and it cannot be read from its start", async () => {
  const kept = keepOne(async ({ push }) => {
    for (let event = 0; event < 9; event++) await push({ data: "12345" });
  }, { maxCharacters: 20, keptMs: 50 });
  assertEquals((await kept.open()).match(/12345/g)?.length, 9);
  await assertRejects(() => kept.reopen(), Error, "no longer kept");
  await until(() => !kept.streams.has("s", ""));
});

Deno.test("a failure after the first event is kept with the stream", async () => {
  const kept = keepOne(async ({ push }) => {
    await push({ data: "1" });
    throw new Error("broken");
  }, { keptMs: 50 });
  const text = "id: s/1\ndata: 1\n\nid: s/2\ndata: Error: broken\n\n";
  assertEquals([await kept.open(), await kept.reopen()], [text, text]);
  await until(() => !kept.streams.has("s", ""));
});
