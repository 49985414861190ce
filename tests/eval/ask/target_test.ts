import { assertEquals, assertRejects } from "@std/assert";
import type { TargetReply } from "../../../eval/ask/reply.ts";
import { createTarget, type Dialect } from "../../../eval/ask/target.ts";
import type { ModelParameters, Protocol } from "../../../eval/test/evaluate_request.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evaluateBody, evaluateWith, wiredService } from "../../fakes/eval_service.ts";
import { completionBody, startProviderDouble } from "../../fakes/provider_double.ts";

const signal = new AbortController().signal;
const question = [{ role: "user" as const, content: "hello" }];

/** A target whose addresses answer by table; an address that is not in it answers 404. */
function targetAt(
  endpoint: string,
  answers: Record<string, string | ProviderError>,
  more: { protocol?: Protocol; parameters?: ModelParameters; hasSystemPrompts?: boolean } = {},
) {
  const asked: string[] = [];
  const dialect = (address: string): Dialect => ({
    address,
    ask() {
      asked.push(address);
      const answer = answers[address] ?? providerError(404);
      if (answer instanceof ProviderError) return Promise.reject(answer);
      return Promise.resolve({ content: answer, usage: null });
    },
  });
  const target = createTarget({
    endpoint,
    protocol: more.protocol,
    parameters: more.parameters ?? {},
    hasSystemPrompts: more.hasSystemPrompts ?? false,
    dialects: {
      openai: (baseUrl) => dialect(`openai ${baseUrl}`),
      agent: (url) => dialect(`agent ${url}`),
    },
  });
  return { target, asked };
}

/** A 404 with a message. */
const saying = (message: string) =>
  new ProviderError(404, "model_not_found", "cannot", { kind: "status", status: 404 }, {
    provider: { message, type: null, code: null, param: null },
  });

Deno.test("an endpoint that answers 404 everywhere is quoted once for all that it says", async () => {
  const { target } = targetAt("https://host", {
    "openai https://host": saying("Not Found"),
    "openai https://host/v1": saying("the model `acme` does not exist"),
    "agent https://host": saying("Not Found"),
  });
  await assertRejects(
    () => target.ask(question, signal),
    ProviderError,
    "agent https://host); it says: Not Found; the model `acme` does not exist",
  );
});

Deno.test("what an endpoint says with 404 is cut, because each turn has it", async () => {
  const { target } = targetAt("https://host", {
    "openai https://host": saying("a".repeat(2_000)),
    "openai https://host/v1": saying("b".repeat(2_000)),
  });
  const { message } = await assertRejects(() => target.ask(question, signal), ProviderError);
  assertEquals(message.split("it says: ")[1], `${"a".repeat(149)}…; ${"b".repeat(149)}…`);
});

const ADDRESSES: [endpoint: string, asked: string[]][] = [
  ["https://host/v1", ["openai https://host/v1", "agent https://host/v1"]],
  ["https://host/v1/", ["openai https://host/v1", "agent https://host/v1/"]],
  ["https://host/v1/chat/completions", ["openai https://host/v1"]],
  ["https://host/chat/completions/", ["openai https://host"]],
  ["https://host", ["openai https://host", "openai https://host/v1", "agent https://host"]],
  ["http://host:8000/", [
    "openai http://host:8000",
    "openai http://host:8000/v1",
    "agent http://host:8000/",
  ]],
  ["https://host/ollama/", [
    "openai https://host/ollama",
    "openai https://host/ollama/v1",
    "agent https://host/ollama/",
  ]],
  ["https://host/v1beta/openai", [
    "openai https://host/v1beta/openai",
    "agent https://host/v1beta/openai",
  ]],
  ["https://host/v1/chat/completions?version=2", ["openai https://host/v1?version=2"]],
  ["http://host/?key=a/?b", [
    "openai http://host?key=a/?b",
    "openai http://host/v1?key=a/?b",
    "agent http://host/?key=a/?b",
  ]],
  ["http://host/review1", [
    "openai http://host/review1",
    "openai http://host/review1/v1",
    "agent http://host/review1",
  ]],
  ["https://host/v1?version=2", [
    "openai https://host/v1?version=2",
    "agent https://host/v1?version=2",
  ]],
];

for (const [endpoint, expected] of ADDRESSES) {
  Deno.test(`${endpoint} is looked for at ${expected.join(", ")}`, async () => {
    const { target, asked } = targetAt(endpoint, {});
    await assertRejects(() => target.ask(question, signal), ProviderError, "no chat route");
    assertEquals(asked, expected);
  });
}

Deno.test("the dialect that answered is used for the rest of the run", async () => {
  const { target, asked } = targetAt("http://host", { "agent http://host": "hi" });
  assertEquals((await target.ask(question, signal)).content, "hi");
  await target.ask(question, signal);
  await target.ask(question, signal);
  assertEquals(asked.slice(2), ["agent http://host", "agent http://host", "agent http://host"]);
});

Deno.test("after a 405 the next address is tried, as after a 404", async () => {
  const { target } = targetAt("http://host", {
    "openai http://host": providerError(405),
    "openai http://host/v1": "hi",
  });
  assertEquals((await target.ask(question, signal)).content, "hi");
});

Deno.test("no search is made if the request names the protocol", async () => {
  const agent = targetAt("http://host", { "agent http://host": "hi" }, { protocol: "agent" });
  await agent.target.ask(question, signal);
  assertEquals(agent.asked, ["agent http://host"]);

  const openai = targetAt("http://host/v1", {}, { protocol: "openai" });
  await assertRejects(() => openai.target.ask(question, signal));
  assertEquals(openai.asked, ["openai http://host/v1"]);
});

Deno.test("the agent's dialect is not tried with parameters, because it cannot send them", async () => {
  const { target, asked } = targetAt(
    "http://host/v1",
    { "agent http://host/v1": "hi" },
    { parameters: { temperature: 0 } },
  );
  await assertRejects(() => target.ask(question, signal), ProviderError);
  assertEquals(asked, ["openai http://host/v1"]);
});

Deno.test("the agent's dialect is not tried with system prompts, because it cannot send them", async () => {
  const { target, asked } = targetAt(
    "http://host/v1",
    { "agent http://host/v1": "hi" },
    { hasSystemPrompts: true },
  );
  const hint = "unless protocol is agent";
  await assertRejects(() => target.ask(question, signal), ProviderError, hint);
  assertEquals(asked, ["openai http://host/v1"]);
  const route = targetAt("http://host/v1/chat/completions", {}, { hasSystemPrompts: true });
  const error = await assertRejects(() => route.target.ask(question, signal), ProviderError);
  assertEquals(error.message.includes(hint), false, "no agent is asked at a route of OpenAI");
});

const DEAD: [string, ProviderError][] = [
  ["an endpoint that cannot be reached", unreachable()],
  ["401", providerError(401)],
  ["403", providerError(403)],
  ["404 at every address", providerError(404)],
];

for (const [what, error] of DEAD) {
  Deno.test(`after ${what} on the first call no further call is made, and all fail with the same error`, async () => {
    const { target, asked } = targetAt("http://host/v1/chat/completions", {
      "openai http://host/v1": error,
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => target.ask(question, signal)),
    );
    const reasons = new Set(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason));
    assertEquals(reasons.size, 1);
    assertEquals(asked.length, 1);
  });
}

for (const status of [400, 429, 500]) {
  Deno.test(`${status} on the first call fails only that call`, async () => {
    const answers: Record<string, string | ProviderError> = {
      "openai http://host/v1": providerError(status),
    };
    const { target, asked } = targetAt("http://host/v1", answers);
    await assertRejects(() => target.ask(question, signal), ProviderError, `${status}`);
    answers["openai http://host/v1"] = "fine";
    assertEquals((await target.ask(question, signal)).content, "fine");
    assertEquals(asked.length, 2);
  });
}

Deno.test("only a readable reply settles the dialect, also if it is at another address", async () => {
  for (const failing of [providerError(302), providerError(400), timedOut()]) {
    const answers: Record<string, string | ProviderError> = { "openai http://host": failing };
    const { target, asked } = targetAt("http://host", answers);
    await assertRejects(() => target.ask(question, signal), ProviderError);
    answers["agent http://host"] = "hi";
    delete answers["openai http://host"]; // the fault has passed, and it never was the right address
    assertEquals((await target.ask(question, signal)).content, "hi");
    assertEquals((await target.ask(question, signal)).content, "hi");
    assertEquals(asked.slice(-2), ["agent http://host", "agent http://host"]);
  }
});

Deno.test("an address that answers with a web page is skipped", async () => {
  const { target } = targetAt("http://host", {
    "openai http://host": unreadable(),
    "openai http://host/v1": "hi",
  });
  assertEquals((await target.ask(question, signal)).content, "hi");

  const nowhere = targetAt("http://host", { "openai http://host": unreadable() });
  await assertRejects(() => nowhere.target.ask(question, signal), ProviderError, "unreadable");
  assertEquals(nowhere.asked.length, 3);
});

Deno.test("a damaged answer of the first call does not settle that the endpoint is another kind", async () => {
  const answers: Record<string, string | ProviderError> = {
    "openai http://host": unreadable(),
    "agent http://host": "hi",
  };
  const { target, asked } = targetAt("http://host", answers);
  assertEquals((await target.ask(question, signal)).content, "hi");
  answers["openai http://host"] = "fine";
  assertEquals((await target.ask(question, signal)).content, "fine");
  await target.ask(question, signal);
  assertEquals(asked.slice(3), ["openai http://host", "openai http://host"]);
});

Deno.test("an address that is always unreadable is asked twice, and then skipped", async () => {
  const { target, asked } = targetAt("http://host", {
    "openai http://host": unreadable(),
    "openai http://host/v1": "hi",
  });
  for (let call = 0; call < 4; call++) await target.ask(question, signal);
  assertEquals(asked.filter((address) => address === "openai http://host").length, 2);
});

Deno.test("an origin that was busy at first is searched again", async () => {
  const answers: Record<string, string | ProviderError> = {
    "openai http://host": providerError(503),
    "openai http://host/v1": "hi",
  };
  const { target, asked } = targetAt("http://host", answers);
  await assertRejects(() => target.ask(question, signal), ProviderError, "503");
  delete answers["openai http://host"]; // warm now, and it never was the right address
  assertEquals((await target.ask(question, signal)).content, "hi");
  await target.ask(question, signal);
  assertEquals(asked.slice(1), [
    "openai http://host",
    "openai http://host/v1",
    "openai http://host/v1",
  ]);
});

Deno.test("an endpoint that fails later in the run is called again each time", async () => {
  const answers: Record<string, string | ProviderError> = { "openai http://host/v1": "hi" };
  const { target, asked } = targetAt("http://host/v1", answers);
  await target.ask(question, signal);
  answers["openai http://host/v1"] = unreachable();
  await assertRejects(() => target.ask(question, signal));
  answers["openai http://host/v1"] = "back";
  assertEquals((await target.ask(question, signal)).content, "back");
  assertEquals(asked.length, 3);
});

function timedOut(): ProviderError {
  return new ProviderError(504, "provider_timeout", "it took too long", { kind: "timeout" });
}

function unreadable(): ProviderError {
  return new ProviderError(502, "provider_error", "its answer is unreadable", {
    kind: "unreadable",
  });
}

function unreachable(): ProviderError {
  return new ProviderError(502, "provider_error", "cannot reach the endpoint", {
    kind: "unreachable",
  });
}

const HI: TargetReply = { content: "hi", usage: null };

/** A target that has `ask` for every address. */
function targetThatAsks(
  ask: () => Promise<TargetReply>,
  { endpoint = "http://host/v1/chat/completions", ...options }: {
    endpoint?: string;
    patienceMs?: number;
  } = {},
) {
  const dialect = { address: endpoint, ask };
  const dialects = { openai: () => dialect, agent: () => dialect };
  return createTarget({ endpoint, protocol: undefined, parameters: {}, dialects }, options);
}

/** Answers every call but the first, which is answered with `first`. */
function onlyLater(first: Promise<TargetReply>): () => Promise<TargetReply> {
  let asked = 0;
  return () => ++asked === 1 ? first : Promise.resolve(HI);
}

Deno.test("calls wait for the first one for a limited time", async () => {
  const hanging = Promise.withResolvers<TargetReply>();
  const target = targetThatAsks(onlyLater(hanging.promise), { patienceMs: 20 });
  const first = target.ask(question, signal);
  assertEquals((await target.ask(question, signal)).content, "hi");
  hanging.resolve({ content: "late", usage: null });
  assertEquals((await first).content, "late");
});

Deno.test("calls that wait for the first one go on as soon as it has ended, well or not", async () => {
  for (const isAnswered of [true, false]) {
    const hanging = Promise.withResolvers<TargetReply>();
    const target = targetThatAsks(onlyLater(hanging.promise), { patienceMs: 1e6 });
    const first = target.ask(question, signal);
    const second = target.ask(question, AbortSignal.timeout(10_000));
    if (isAnswered) hanging.resolve(HI);
    else hanging.reject(providerError(500));
    await first.catch(() => {});
    assertEquals((await second).content, "hi");
  }
});

/** A target with this many calls in progress; `answers` settle them. */
async function askedAtOnce(count: number, options: { endpoint?: string } = {}) {
  const answers: PromiseWithResolvers<TargetReply>[] = [];
  const target = targetThatAsks(() => {
    const answer = Promise.withResolvers<TargetReply>();
    answers.push(answer);
    return answer.promise;
  }, { patienceMs: 0, ...options });
  const calls = Array.from({ length: count }, () => target.ask(question, signal));
  for (const call of calls) call.catch(() => {});
  await Promise.resolve();
  assertEquals(answers.length, count);
  return { target, answers, calls };
}

Deno.test("a refusal of one question among several under way fails only that call", async () => {
  const { target, answers, calls } = await askedAtOnce(4);
  answers[1]!.reject(providerError(403));
  await assertRejects(() => calls[1]!, ProviderError, "403");
  const further = target.ask(question, signal);
  await Promise.resolve();
  for (const answer of answers) answer.resolve(HI);
  assertEquals((await further).content, "hi");
});

Deno.test("an unreadable answer of an address that has replied to another call is not asked for elsewhere", async () => {
  const { answers, calls } = await askedAtOnce(2, { endpoint: "http://host/v1" });
  answers[0]!.resolve(HI);
  await calls[0];
  const failure = { kind: "unreadable" } as const;
  answers[1]!.reject(new ProviderError(502, "provider_error", "unreadable", failure));
  await assertRejects(() => calls[1]!, ProviderError, "unreadable");
  assertEquals(answers.length, 2);
});

Deno.test("if the first question or half of those under way are refused, no further call is made", async () => {
  for (const refused of [[0], [1, 2]]) {
    const { target, answers, calls } = await askedAtOnce(4);
    for (const index of refused) {
      answers[index]!.reject(providerError(403));
      await assertRejects(() => calls[index]!, ProviderError, "403");
    }
    await assertRejects(() => target.ask(question, signal), ProviderError, "403");
    assertEquals(answers.length, 4);
    for (const answer of answers) answer.resolve(HI);
    await Promise.allSettled(calls);
  }
});

Deno.test("a call that is aborted while it waits for the first one rejects at once", async () => {
  const hanging = Promise.withResolvers<TargetReply>();
  const target = targetThatAsks(() => hanging.promise);
  const first = target.ask(question, signal);
  const leaving = new AbortController();
  const waiting = target.ask(question, leaving.signal);
  leaving.abort();
  await assertRejects(() => waiting, DOMException);
  hanging.resolve(HI);
  await first;
});

const REFUSED = "Unsupported parameter: 'max_tokens' is not supported with this model. " +
  "Use 'max_completion_tokens' instead.";

Deno.test("a model that refuses max_tokens is asked with max_completion_tokens from then on", async () => {
  await using double = await startProviderDouble(({ body }) =>
    Promise.resolve(
      "max_tokens" in body
        ? Response.json({ error: { message: REFUSED } }, { status: 400 })
        : Response.json(completionBody({ content: "Paris" })),
    )
  );
  const { service } = wiredService();
  const interactions = ["1", "2"].map((id) => ({ id, user_message: "The capital of France?" }));
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: { id: "s", interactions },
      endpoint: double.baseUrl,
      parameters: { max_tokens: 500 },
    }),
  );
  const turns = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals(turns.map(({ agent_reply }) => agent_reply), ["Paris", "Paris"]);
  assertEquals(
    double.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]),
    [[500, undefined], [undefined, 500], [undefined, 500]],
  );
});
