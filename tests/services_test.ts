import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { AgentReply } from "../agent/core/agent_message.ts";
import { EvaluateResponse } from "../eval/test/evaluate_response.ts";
import { completion, errorStatus, hang, startProviderDouble } from "./fakes/provider_double.ts";
import { type ServiceProcess, startServiceProcess } from "./fakes/service_process.ts";
import { until } from "./fakes/until.ts";

/** Both services as real processes, over real HTTP, against a provider double. */

function post(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
    body: JSON.stringify(body),
  });
}

function ask(agent: ServiceProcess, content: string, model: string, init: RequestInit = {}) {
  const body = { messages: [{ type: "human", content }] };
  return post(agent.url, body, { ...init, headers: { "x-model-id": model } });
}

const batch = (user_message: string, reference_reply: string) => ({
  id: "s1",
  interactions: [{ id: "i1", user_message, reference_reply }],
});

const UUID = "3f2b9c1e-5d47-4a8b-9e60-7c1d2f3a4b5c";

Deno.test("on a new machine the demo answers, uses a tool and can be evaluated", async () => {
  await using agent = await startServiceProcess("agent");
  await using evaluation = await startServiceProcess("eval");

  const reply = AgentReply.parse(
    await (await ask(agent, "What is 17 * 23?", "demo/assistant")).json(),
  );
  assertStringIncludes(reply.content, "391");
  assert(
    agent.lines.some((line) => line.includes("demo")),
    "the log does not say that it is a demo",
  );

  const models: Record<string, string> = await (await fetch(`${agent.url}/studio/models`)).json();
  const [uuid = ""] = Object.values(models);
  const tuned = AgentReply.parse(await (await ask(agent, "Hello", uuid)).json());
  assertEquals(tuned.response_metadata.model_name, uuid);

  const answer = await post(`${evaluation.url}/evaluate`, {
    test_batch: batch("What is 17 * 23?", reply.content),
    endpoint: agent.url,
    model_id: "demo/assistant",
    attempts: 3,
  });
  const { message, results } = EvaluateResponse.parse(await answer.json());
  assertEquals(message, "Evaluation completed successfully");
  assertEquals(results.average_scores.exact_match, 1);
});

Deno.test("a configured hub is asked with its key and the whole model id", async () => {
  await using hub = await startProviderDouble(
    completion({ content: "from the hub", model: "acme/m-1" }),
  );
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, HUB_API_KEY: "hub-secret" },
  });
  const response = await ask(agent, "Hello", "acme/models/m-1");
  assertEquals((await response.json()).content, "from the hub");
  const [request] = hub.requests;
  assertEquals(request?.path, "/v1/chat/completions");
  assertEquals(request?.body.model, "acme/models/m-1");
  assertEquals(request?.headers.get("authorization"), "Bearer hub-secret");
});

Deno.test("a fine-tuned model is asked at the studio by its UUID, which its list names", async () => {
  await using studio = await startProviderDouble((request) =>
    request.path === "/v1/models"
      ? Response.json({ data: [{ id: UUID, name: "support-v3" }] })
      : completion({ content: "from the studio" })(request)
  );
  await using agent = await startServiceProcess("agent", {
    environment: { STUDIO_BASE_URL: studio.baseUrl, STUDIO_API_KEY: "studio-secret" },
  });
  const models = await (await fetch(`${agent.url}/studio/models`)).json();
  assertEquals(models, { "support-v3": UUID });
  const response = await ask(agent, "Hello", models["support-v3"]);
  assertEquals((await response.json()).content, "from the studio");
  assertEquals(studio.requests.at(-1)?.body.model, UUID);
});

Deno.test("a client that leaves the agent closes the provider's socket", async () => {
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl },
  });
  const controller = new AbortController();
  const question = "Hello? ".repeat(500); // long: the body comes in a packet of its own
  const left = ask(agent, question, "acme/m", { signal: controller.signal }).catch(() => "left");
  await hub.received();
  controller.abort();
  assertEquals(await left, "left");
  await hub.aborted();
});

Deno.test("an evaluation sends its credential to the endpoint, and marks what failed", async () => {
  await using endpoint = await startProviderDouble([
    completion({ content: "yes" }),
    errorStatus(400),
    completion({ content: "yes" }),
  ]);
  await using evaluation = await startServiceProcess("eval", {
    environment: { EVAL_API_KEY: "eval-secret", EVAL_CONCURRENCY: "1" },
  });
  const response = await post(`${evaluation.url}/evaluate`, {
    test_batch: batch("Really?", "yes"),
    endpoint: endpoint.baseUrl,
    model_id: "m",
    attempts: 4,
  });
  const text = await response.text();
  const { message, results } = EvaluateResponse.parse(JSON.parse(text));
  assertEquals(message, "Evaluation completed: 1 of 4 interactions failed");
  const replies = results.scenarios[0]?.attempts.map(({ interactions }) =>
    interactions[0]?.agent_reply
  );
  assertEquals(replies, ["yes", "Request failed", "yes", "yes"]);
  assertEquals(results.average_scores.exact_match, 0.75);
  assertEquals(endpoint.requests[0]?.headers.get("authorization"), "Bearer eval-secret");
  assert(!text.includes("eval-secret"));
  const failed = results.scenarios[0]?.attempts[1]?.interactions[0]?.error;
  assertEquals(failed?.detail.includes("raw words of the provider"), true); // a refusal's words
  assert(!evaluation.lines.join().includes("eval-secret"));
});

Deno.test("an endpoint that nobody listens on costs a handful of calls and answers 200", async () => {
  const port = findClosedPort();
  await using evaluation = await startServiceProcess("eval", {
    environment: { MODEL_RETRIES: "0" },
  });
  const response = await post(`${evaluation.url}/evaluate`, {
    test_batch: batch("Hello", "Hello"),
    endpoint: `http://127.0.0.1:${port}/v1`,
    model_id: "m",
    attempts: 1000,
  });
  const { message, results } = EvaluateResponse.parse(await response.json());
  assertEquals(message, "Evaluation completed: 1000 of 1000 interactions failed");
  assertEquals(results.average_scores.overall, 0);
  const errors = results.scenarios[0]?.attempts.map(({ interactions }) => interactions[0]?.error);
  assertEquals(new Set(errors?.map((error) => JSON.stringify(error))).size, 1);
});

/**
 * If the path names the API, all calls start nearly at once. It comes first and loads what asking
 * needs: the others hold only while the first call is answered within the time that calls wait for it.
 */
const REFUSALS: [status: number, path: string, most: number][] = [
  [401, "/v1", 64],
  [401, "", 3],
  [403, "", 3],
  [404, "", 3],
];

Deno.test("an endpoint that refuses every call is asked a handful of times, not thousands", async (t) => {
  await using evaluation = await startServiceProcess("eval");
  for (const [status, path, most] of REFUSALS) {
    await t.step(`it answers ${status} at its ${path || "origin"}`, async () => {
      await using endpoint = await startProviderDouble(errorStatus(status));
      const response = await post(`${evaluation.url}/evaluate`, {
        test_batch: batch("Hello", "Hello"),
        endpoint: `${endpoint.origin}${path}`,
        model_id: "m",
        attempts: 1000,
      });
      const { message } = EvaluateResponse.parse(await response.json());
      assertEquals(message, "Evaluation completed: 1000 of 1000 interactions failed");
      assert(endpoint.requests.length <= most, `it was asked ${endpoint.requests.length} times`);
    });
  }
});

Deno.test(".env in the working folder is read, and the process wins over it", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${cwd}/.env`, "API_KEYS=from-file\nLOG_LEVEL=debug\n");
    await using agent = await startServiceProcess("agent", {
      cwd,
      environment: { API_KEYS: "from-process" },
    });
    const get = async (key: string) => {
      const response = await fetch(agent.url, { headers: { "x-api-key": key } });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals([await get("from-process"), await get("from-file")], [200, 401]);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("every example of the evaluation names the agent's configured port", async () => {
  const environment = { AGENT_PORT: "8123", LOG_FORMAT: "text" };
  await using evaluation = await startServiceProcess("eval", { environment });
  const agent = "http://127.0.0.1:8123";
  await until(() => evaluation.lines.some((line) => line.includes(`"endpoint":"${agent}"`)));
  const { paths } = await (await fetch(`${evaluation.url}/openapi.json`)).json();
  const { example } = paths["/evaluate"].post.requestBody.content["application/json"];
  assertEquals(example.endpoint, agent);
  const page = await fetch(evaluation.url, { headers: { accept: "text/html" } });
  assertStringIncludes(await page.text(), `<meta name="assay-agent" content="${agent}">`);
});

Deno.test("a configuration that cannot be used stops the start and names the variable", async () => {
  for (
    const [environment, named] of [
      [{ AGENT_MAX_STEPS: "many" }, "AGENT_MAX_STEPS"],
      [{ HOST: "0.0.0.0" }, "API_KEYS"],
    ] as const
  ) {
    const failure = await startServiceProcess("agent", { environment: { ...environment } })
      .then(() => "it started", (error: Error) => error.message);
    assertStringIncludes(failure, named);
    assertMatch(failure, /cannot start/);
    assert(!/\bat .*\.ts:\d+/.test(failure), `a stack trace:\n${failure}`);
  }
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`on ${signal} what is running finishes, and the process exits with 0`, async () => {
    const held = Promise.withResolvers<void>();
    await using hub = await startProviderDouble(async (request) => {
      await held.promise;
      return completion({ content: "finished" })(request);
    });
    await using agent = await startServiceProcess("agent", {
      environment: { HUB_BASE_URL: hub.baseUrl },
    });
    const running = ask(agent, "Hello", "acme/m");
    await hub.received();
    agent.kill(signal);
    await until(() => agent.lines.some((line) => line.includes("stopping")));
    held.resolve();
    assertEquals((await (await running).json()).content, "finished");
    assertEquals((await agent.status).code, 0);
  });
}

Deno.test("what does not finish within the grace time is left, and the exit is still 0", async () => {
  await using hub = await startProviderDouble(hang());
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, SHUTDOWN_GRACE_MS: "50" },
  });
  const running = ask(agent, "Hello", "acme/m").then(
    (response) => response.body?.cancel(),
    () => {},
  );
  await hub.received();
  agent.kill("SIGTERM");
  assertEquals((await agent.status).code, 0);
  await running;
});

/** A free port of this machine. */
function findClosedPort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
