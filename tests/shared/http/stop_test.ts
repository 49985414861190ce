import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { askDemo } from "../../fakes/ask_demo.ts";
import {
  completionChunks,
  hang,
  holdAnswers,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";
import { type ServiceProcess, startServiceProcess } from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";

async function stopping({ lines }: ServiceProcess): Promise<void> {
  await until(() => lines.some((line) => line.includes("is stopping")));
}

for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  Deno.test(`${signal} past the grace: callers get 503, streams an error event, and the provider is left`, async () => {
    await using hub = await startProviderDouble([
      sse(completionChunks({ content: "One two three" }).slice(0, 3), { end: "hang" }),
      hang(),
    ]);
    await using agent = await startServiceProcess("agent", {
      environment: { HUB_BASE_URL: hub.baseUrl, SHUTDOWN_GRACE_MS: "50" },
    });
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(agent.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-model-id": "a/b", ...headers },
        body: JSON.stringify(body),
      });
    const plain = { messages: [{ type: "human", content: "Hi" }] };
    const openai = { model: "a/b", messages: [{ role: "user", content: "Hi" }] };
    const open = await post("/", plain, { accept: "text/event-stream" });
    const answers = [
      post("/", plain),
      post("/", plain, { accept: "text/event-stream" }),
      post("/v1/chat/completions", openai),
      post("/v1/chat/completions", { ...openai, stream: true }),
    ];
    await hub.received(5);
    agent.kill(signal);
    const streamed = await open.text();
    assertMatch(streamed, /event: token[^]*event: error\ndata: .*"code":"shutting_down"/);
    for (const answer of answers) {
      const response = await answer;
      assertEquals(response.status, 503);
      assertStringIncludes(await response.text(), "shutting_down");
    }
    await hub.aborted(5);
    assertEquals((await agent.status).code, 0);
  });
}

Deno.test("a stream that is cut by the stop has its log line", async () => {
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, SHUTDOWN_GRACE_MS: "100" },
  });
  const cut = fetch(agent.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-model-id": "a/b",
      accept: "text/event-stream",
    },
    body: JSON.stringify({ prompt: "Hi" }),
  }).then((response) => response.text()).catch(() => {});
  await hub.received();
  agent.kill("SIGTERM");
  assertEquals((await agent.status).code, 0);
  await cut;
  assert(agent.lines.some((line) => line.includes('"message":"request"')), agent.lines.join("\n"));
});

Deno.test("SIGTERM under load: running requests finish, new ones are refused, the exit code is 0", async () => {
  const { answer, release } = holdAnswers();
  await using hub = await startProviderDouble(answer);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const running = Array.from({ length: 50 }, () => askDemo(agent));
  await hub.received(50);
  agent.kill("SIGTERM");
  await stopping(agent);
  await assertRejects(() => fetch(agent.url), TypeError);
  release();
  const answers = await Promise.all(running.map(async (response) => (await response).json()));
  assertEquals(new Set(answers.map(({ content }) => content)), new Set(["finished"]));
  assertEquals((await agent.status).code, 0);
});

Deno.test("a connection that was opened ahead and never used does not delay the stop", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { SHUTDOWN_GRACE_MS: "600000" },
  });
  const { hostname, port } = new URL(agent.url);
  using _unused = await Deno.connect({ hostname, port: Number(port) });
  await (await fetch(`${agent.url}/healthz`)).text(); // accepted after it
  agent.kill("SIGTERM");
  assertEquals((await agent.status).code, 0);
});

Deno.test("a request whose head never arrives in full does not delay the stop", async () => {
  await using agent = await startServiceProcess("agent", {
    environment: { SHUTDOWN_GRACE_MS: "600000" },
  });
  const { hostname, port } = new URL(agent.url);
  using half = await Deno.connect({ hostname, port: Number(port) });
  await half.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"));
  await (await fetch(`${agent.url}/healthz`)).text(); // accepted after it
  agent.kill("SIGTERM");
  assertEquals((await agent.status).code, 0);
});

Deno.test("a second signal ends the process at once, and callers are told why", async () => {
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, SHUTDOWN_GRACE_MS: "600000" },
  });
  const running = askDemo(agent);
  await hub.received();
  agent.kill("SIGTERM");
  await stopping(agent);
  await new Promise((resolve) => setTimeout(resolve, 300)); // sooner it would be the first one's echo
  agent.kill("SIGTERM");
  const response = await running;
  assertEquals(response.status, 503);
  assertStringIncludes(await response.text(), "shutting_down");
  assertEquals((await agent.status).code, 0);
});

Deno.test("a Ctrl-C that arrives twice, from the terminal and from the task, counts once: running requests finish", async () => {
  const { answer, release } = holdAnswers();
  await using hub = await startProviderDouble(answer);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const running = askDemo(agent);
  await hub.received();
  agent.kill("SIGINT");
  agent.kill("SIGTERM");
  await stopping(agent);
  release();
  assertEquals((await (await running).json()).content, "finished");
  assertEquals((await agent.status).code, 0);
});
