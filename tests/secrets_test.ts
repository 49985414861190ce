import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createRedactor, listSecrets } from "../shared/service/log.ts";
import {
  completion,
  errorStatus,
  json,
  type ProviderDouble,
  raw,
  startProviderDouble,
} from "./fakes/provider_double.ts";
import { exportTo } from "./fakes/export_to.ts";
import { type ServiceProcess, startProcess, startServiceProcess } from "./fakes/service_process.ts";
import { until } from "./fakes/until.ts";

/**
 * Secrets are planted in every place that may have one, and all output is searched for them, and
 * for stack traces and paths.
 */

const PLANTED = {
  hubKey: "planted-hub-key-1f7c",
  studioKey: "planted-studio-key-2b8d",
  userInfo: "planted-user-info-3c9e",
  query: "planted-query-4dae",
  evalKey: "planted-eval-key-5ebf",
  ownKey: "planted-own-key-6fc0",
  callerKey: "planted-caller-key-7ad1",
  header: "planted-header-8be2",
  body: "planted-body-9cf3",
  providerWords: "planted-provider-words-ad04",
  mcpHeader: "planted-mcp-header-be15",
} as const;

/** Errors that quote the secret that was sent, with words of the provider. */
const leaky = (key: string) =>
  [400, 401, 404, 429, 500].map((status) =>
    errorStatus(status, { message: `${PLANTED.providerWords} ${key}` })
  );

function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": PLANTED.callerKey,
      "x-custom": PLANTED.header,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).then(async (response) => JSON.stringify([...response.headers]) + await response.text());
}

function search(where: string, text: string, allowed: (keyof typeof PLANTED)[] = []): void {
  for (const [name, secret] of Object.entries(PLANTED)) {
    if (allowed.includes(name as keyof typeof PLANTED)) continue;
    const at = text.indexOf(secret);
    assert(at < 0, `${name} is in ${where}: …${text.slice(Math.max(0, at - 200), at + 60)}…`);
  }
}

/** A frame of a stack, as it is printed and inside of JSON; and where files lie on this machine. */
const INSIDE = [/^\s+at .+:\d+/m, /\\n\s+at /, /file:\/\//, new RegExp(import.meta.dirname!)];

async function searchLog(service: ServiceProcess): Promise<void> {
  service.kill("SIGTERM");
  await service.status;
  const log = service.lines.join("\n");
  search("the log", log, ["providerWords"]);
  assert(!log.includes("?"), "an address in the log has its query");
  INSIDE.forEach((pattern) => assert(!pattern.test(log), `${pattern} is in the log:\n${log}`));
}

/** What the service has exported when it ended. Deno's own spans have whole addresses. */
function searchExport({ requests }: ProviderDouble, spans: string[]): void {
  for (const path of ["traces", "metrics", "logs"]) {
    const sent = requests.filter((request) => request.path === `/v1/${path}`);
    const text = JSON.stringify(sent.map(({ body }) => body));
    search(`the exported ${path}`, text, [
      "providerWords",
      ...path === "traces" ? ["query" as const] : [],
    ]);
    if (path === "traces") spans.forEach((name) => assertStringIncludes(text, `"${name}"`));
  }
}

Deno.test("the agent's answers, log and traces hold no planted secret", async () => {
  await using collector = await startProviderDouble(json({}));
  const LEAKY = leaky(PLANTED.hubKey);
  await using hub = await startProviderDouble([
    ...LEAKY,
    raw(`<h1>${PLANTED.providerWords} ${PLANTED.hubKey}`),
    ...LEAKY,
  ]);
  const credential = `${PLANTED.userInfo}:${PLANTED.studioKey}`;
  const studio = `http://${credential}@127.0.0.1:1/v1?key=${PLANTED.query}`;
  await using agent = await startServiceProcess("agent", {
    environment: {
      HUB_BASE_URL: `${hub.baseUrl}?key=${PLANTED.query}`,
      HUB_API_KEY: PLANTED.hubKey,
      STUDIO_BASE_URL: studio,
      API_KEYS: `ada:${PLANTED.callerKey}`,
      AGENT_MCP_CONFIG: JSON.stringify({
        mcpServers: { down: { url: "http://127.0.0.1:1/mcp", headers: { k: PLANTED.mcpHeader } } },
      }),
      MODEL_RETRIES: "0",
      LOG_LEVEL: "debug",
      ...exportTo(collector),
    },
  });
  const chat = { messages: [{ type: "human", content: PLANTED.body }] };
  const uuid = "3f2b9c1e-5d47-4a8b-9e60-7c1d2f3a4b5c";
  const answers = [];
  for (let call = 0; call <= LEAKY.length; call++) {
    answers.push(await post(agent.url, chat, { "x-model-id": "acme/m" }));
  }
  // The double repeats its last answer: these two fail in a stream, and so does the list of models.
  const stream = {
    messages: [{ role: "user", content: PLANTED.body }],
    model: "acme/m",
    stream: true,
  };
  answers.push(
    await post(agent.url, chat, { "x-model-id": "acme/m", accept: "text/event-stream" }),
    await post(`${agent.url}/v1/chat/completions`, stream),
    await post(agent.url, chat, { "x-model-id": uuid }),
    await post(agent.url, chat, { "x-model-id": "neither" }),
    await post(agent.url, `{"messages": "${PLANTED.body}`, { "x-model-id": "acme/m" }),
    await post(agent.url, chat, { "x-model-id": "acme/m", "x-api-key": "wrong" }),
    await post(`${agent.url}/nowhere?key=${PLANTED.query}`, chat),
  );
  for (
    const path of [
      "",
      "/studio/models",
      "/v1/models",
      "/version",
      "/metrics",
      "/openapi.json",
      "/readyz",
      "/tools",
    ]
  ) {
    const headers = { "x-api-key": PLANTED.callerKey };
    answers.push(await (await fetch(agent.url + path, { headers })).text());
  }
  assertEquals(hub.requests[0]?.headers.get("authorization"), `Bearer ${PLANTED.hubKey}`);
  answers.forEach((answer) => search("an answer", answer, ["providerWords"]));
  await searchLog(agent);
  searchExport(collector, ["POST /", "chat acme/m", "invoke_agent assay-agent"]);
});

Deno.test("the evaluation's answers, log and traces hold no planted secret", async () => {
  await using collector = await startProviderDouble(json({}));
  const LEAKY = leaky(PLANTED.evalKey);
  await using endpoint = await startProviderDouble([completion(), ...LEAKY]);
  const other = "http://127.0.0.1:1";
  await using evaluation = await startServiceProcess("eval", {
    environment: {
      EVAL_API_KEY: PLANTED.evalKey,
      EVAL_CREDENTIALS: JSON.stringify({ [other]: PLANTED.ownKey }),
      EVAL_ENDPOINTS: `${endpoint.origin},${other}`,
      API_KEYS: PLANTED.callerKey,
      MODEL_RETRIES: "0",
      EVAL_CONCURRENCY: "1",
      LOG_LEVEL: "debug",
      ...exportTo(collector),
    },
  });
  const run = (address: string) => ({
    test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
    endpoint: address,
    model_id: "m",
    attempts: 1 + LEAKY.length,
  });
  const url = `${evaluation.url}/evaluate`;
  const answers = [
    await post(url, run(endpoint.baseUrl)),
    await post(url, run(`${other}/v1`)),
    await post(url, run(`https://${PLANTED.userInfo}:x@elsewhere.example`)),
    await post(url, run("https://elsewhere.example")),
    await post(`${url}?key=${PLANTED.query}`, { ...run("x"), note: PLANTED.body }),
  ];
  assertEquals(endpoint.requests[0]?.headers.get("authorization"), `Bearer ${PLANTED.evalKey}`);
  answers.forEach((answer) => search("an answer", answer, ["providerWords"]));
  search("an answer", await post(url, run(`${endpoint.baseUrl}?key=${PLANTED.query}`)));
  await searchLog(evaluation);
  searchExport(collector, ["POST /evaluate", "chat m", "evaluate"]);
});

for (const LOG_FORMAT of ["json", "text"]) {
  Deno.test(`an internal failure is logged as ${LOG_FORMAT} without words, stack or path`, async () => {
    const script = new URL("./fakes/careless_service.ts", import.meta.url).pathname;
    await using service = await startProcess(["run", "-A", "--no-prompt", script], {
      environment: { LOG_FORMAT },
    });
    const words = `<h1>${PLANTED.providerWords} at https://${PLANTED.userInfo}@host/x`;
    const answer = await post(`${service.url}/fail`, words);
    search("an answer", answer);
    INSIDE.forEach((pattern) => assert(!pattern.test(answer), `${pattern}: ${answer}`));
    await post(`${service.url}/forget`, words);
    const failures = () => service.lines.filter((line) => line.includes("careless_service.ts:"));
    await until(() => failures().length >= 2);
    await searchLog(service);
  });
}

Deno.test("a secret in someone else's error is taken out of the line, however it is written", () => {
  const config = {
    HUB_API_KEY: 'se"cret\\key',
    EVAL_CREDENTIALS: { "https://a": "own-secret" },
    API_KEYS: ["ada:named-secret"],
    AGENT_MAX_TOKENS: 4096,
    HOST: "127.0.0.1",
  };
  const secrets = listSecrets(config);
  const redact = createRedactor(secrets);
  for (const secret of ['se"cret\\key', "own-secret", "named-secret"]) {
    for (const form of [secret, JSON.stringify(secret), encodeURIComponent(secret)]) {
      const line = redact(`before ${form} after`);
      assert(!line.includes(form) && line.includes("[secret]"), line);
    }
  }
  assertEquals(
    redact("error sending request for url (https://u:p@host:1/v1/x?key=abc#d): refused"),
    "error sending request for url (https://host:1/v1/x): refused",
  );
  assertEquals(redact("127.0.0.1 4096"), "127.0.0.1 4096");
});
