import { assertEquals } from "@std/assert";
import {
  completion,
  completionChunks,
  hang,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "./fakes/provider_double.ts";
import { startServiceProcess } from "./fakes/service_process.ts";

/** A client that leaves ends its work, as seen at the sockets of real servers. */

const SEARCH = [{ name: "web_search", arguments: '{"query":"x"}' }];

/** The model's behaviour, by the question. */
function answer(request: ReceivedRequest): Response | Promise<Response> {
  const { messages, stream } = request.body;
  const question: string = messages.at(-1).content;
  if (question.includes("say nothing")) return hang()(request);
  if (question.includes("stop half-way")) {
    return sse(completionChunks({ content: "One two three" }).slice(0, 3), { end: "hang" })(
      request,
    );
  }
  const fields = { toolCalls: SEARCH };
  return (stream ? sse(completionChunks(fields)) : completion(fields))(request);
}

const WAYS = {
  "POST /": { path: "/", accept: "application/json", body: {} },
  "POST / as a stream": { path: "/", accept: "text/event-stream", body: {} },
  "POST /v1/chat/completions": { path: "/v1/chat/completions", accept: "*/*", body: {} },
  "a streamed completion": {
    path: "/v1/chat/completions",
    accept: "*/*",
    body: { stream: true },
  },
};

Deno.test("a client that leaves closes the sockets to the provider and to the tool", async () => {
  await using hub = await startProviderDouble(answer);
  await using search = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: {
      HUB_BASE_URL: hub.baseUrl,
      AGENT_TOOLS: "web_search",
      TAVILY_API_KEY: "k",
      TAVILY_BASE_URL: search.origin,
    },
  });

  /** Asks, and leaves once `begun` has settled. */
  async function askAndLeave(way: keyof typeof WAYS, question: string, begun: () => Promise<void>) {
    const { path, accept, body } = WAYS[way];
    const controller = new AbortController();
    const content = `${question}${" and so on".repeat(200)}`; // a body in a packet of its own
    const message = path === "/" ? { type: "human", content } : { role: "user", content };
    const left = fetch(agent.url + path, {
      method: "POST",
      signal: controller.signal,
      headers: { "content-type": "application/json", "x-model-id": "acme/m", accept },
      body: JSON.stringify({ model: "acme/m", messages: [message], ...body }),
    }).then((response) => response.text()).catch(() => "left");
    await begun();
    controller.abort();
    assertEquals(await left, "left");
  }

  let asked = 0;
  let leftHub = 0;
  let leftSearch = 0;
  for (const way of Object.keys(WAYS) as (keyof typeof WAYS)[]) {
    for (const question of ["say nothing", "stop half-way"]) {
      const count = ++asked;
      await askAndLeave(way, question, () => hub.received(count));
      await hub.aborted(++leftHub);
    }
    asked++;
    const searches = leftSearch + 1;
    await askAndLeave(way, "search", () => search.received(searches));
    await search.aborted(++leftSearch);
  }
  assertEquals(hub.requests.length, asked); // no further request was sent
});
