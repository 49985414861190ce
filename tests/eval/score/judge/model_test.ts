import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { judgeReply } from "../../../../eval/score/scores/judge.ts";
import { createJudgeModel, logJudge } from "../../../../eval/score/judge_model.ts";
import { askStructured, UnreadableAnswer } from "../../../../eval/score/judge_structured.ts";
import type { Answered, EndpointCall, EndpointClient } from "../../../../eval/ask/client.ts";
import { createLogger } from "../../../../shared/service/log.ts";
import { startCallClock } from "../../../../shared/providers/call_clock.ts";
import { ProviderError } from "../../../../shared/providers/provider.ts";
import { providerError } from "../../../fakes/eval_ports.ts";

interface Sent {
  model: string;
  response_format?: unknown;
  temperature?: number;
}

/** A client whose server refuses or answers each body by a function. */
function clientOf(answer: (body: Sent) => unknown) {
  const sent: { url: string; body: Sent }[] = [];
  const client: EndpointClient = {
    async post<T>({ url, body, read }: EndpointCall<T>): Promise<Answered<T>> {
      sent.push({ url, body: body as Sent });
      const response = Response.json(await answer(body as Sent));
      const clock = startCallClock(10_000);
      try {
        return { value: await read(response, clock, 0), latencyMs: 0 };
      } catch {
        throw providerError(502);
      } finally {
        clock.stop();
      }
    },
  };
  return { client, sent };
}

const question = { name: "grade", messages: [], schema: { type: "object" }, temperature: 0 };
const options = { baseUrl: "https://judge/v1", model: "j" };
const signal = new AbortController().signal;
const reply = (content: unknown) => ({ choices: [{ message: { content } }] });

Deno.test("a judge is asked for structured output", async () => {
  const { client, sent } = clientOf(() => reply("{}"));
  const answer = await createJudgeModel(options, client).ask(question, signal);
  assertEquals(answer, { text: "{}", isCut: false });
  assertEquals(sent[0]!.url, "https://judge/v1/chat/completions");
  assertEquals(sent[0]!.body.response_format, {
    type: "json_schema",
    json_schema: { name: "grade", schema: { type: "object" }, strict: true },
  });
});

Deno.test("a query of the judge's address stays a query", async () => {
  const { client, sent } = clientOf(() => reply("{}"));
  const baseUrl = "https://judge/openai/v1?api-version=2026-01";
  await createJudgeModel({ ...options, baseUrl }, client).ask(question, signal);
  assertEquals(sent[0]!.url, "https://judge/openai/v1/chat/completions?api-version=2026-01");
});

Deno.test("a server that refuses structured output is asked in plain words from then on", async () => {
  const { client, sent } = clientOf((body) => {
    if (body.response_format) throw providerError(400);
    return reply("{}");
  });
  const model = createJudgeModel(options, client);
  await model.ask(question, signal);
  await model.ask(question, signal);
  assertEquals(sent.map(({ body }) => body.response_format !== undefined), [true, false, false]);
});

Deno.test("a server that refuses everything is not asked forever", async () => {
  const { client, sent } = clientOf(() => {
    throw providerError(400);
  });
  await assertRejects(() => createJudgeModel(options, client).ask(question, signal), ProviderError);
  assertEquals(sent.length, 2);
});

Deno.test("an answer without content is an empty verdict, and one without a message is none", async () => {
  const empty = createJudgeModel(options, clientOf(() => reply(null)).client);
  assertEquals((await empty.ask(question, signal)).text, "");
  const none = createJudgeModel(options, clientOf(() => ({})).client);
  await assertRejects(() => none.ask(question, signal), ProviderError);
});

Deno.test("an answer that the server cut off is recognised", async () => {
  const REASONS: [string | null, boolean][] = [
    ["stop", false],
    ["length", true],
    ["content_filter", true],
    [null, false],
  ];
  for (const [finish_reason, isCut] of REASONS) {
    const answer = { choices: [{ message: { content: "{}" }, finish_reason }] };
    const model = createJudgeModel(options, clientOf(() => answer).client);
    assertEquals(await model.ask(question, signal), { text: "{}", isCut }, `${finish_reason}`);
  }
});

Deno.test("of an answer in parts the text is read, and not the thoughts", async () => {
  const parts = [{ type: "thinking", thinking: "{}" }, { type: "text", text: '{"grade"' }, {
    type: "text",
    text: ": 1}",
  }];
  const model = createJudgeModel(options, clientOf(() => reply(parts)).client);
  assertEquals((await model.ask(question, signal)).text, '{"grade": 1}');
});

Deno.test("questions asked at once are all answered if structured output is refused", async () => {
  const { client } = clientOf(async (body) => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (body.response_format) throw providerError(400);
    return reply("{}");
  });
  const model = createJudgeModel(options, client);
  const answers = Array.from({ length: 4 }, () => model.ask(question, signal));
  const texts = (await Promise.all(answers)).map(({ text }) => text);
  assertEquals(texts, ["{}", "{}", "{}", "{}"]);
});

Deno.test("one question that is refused either way does not end structured output", async () => {
  let isRefusing = true;
  const { client, sent } = clientOf(() => {
    if (isRefusing) throw providerError(400);
    return reply("{}");
  });
  const model = createJudgeModel(options, client);
  await assertRejects(() => model.ask(question, signal), ProviderError);
  isRefusing = false;
  await model.ask(question, signal);
  assertEquals(sent.map(({ body }) => body.response_format !== undefined), [true, false, true]);
});

const bareQuestion = { name: "grade", messages: [], schema: {} };

Deno.test("why the judge cannot be asked is logged, once a minute for each kind of failure", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  let time = 0;
  let failure: Error | undefined;
  const judge = logJudge(
    {
      name: "j",
      ask: () => failure ? Promise.reject(failure) : Promise.resolve({ text: "", isCut: false }),
    },
    log,
    () => time,
  );
  const fail = (code: ProviderError["code"], message: string) => {
    failure = new ProviderError(502, code, message, { kind: "timeout" });
    return assertRejects(() => judge.ask(bareQuestion, signal), ProviderError, message);
  };
  await judge.ask(bareQuestion, signal);
  for (const at of [0, 59_999, 60_000]) {
    time = at;
    await fail("provider_auth", `a wrong key at ${at}`);
  }
  await fail("provider_timeout", "no answer");
  failure = new DOMException("the client left", "AbortError");
  await assertRejects(() => judge.ask(bareQuestion, signal), DOMException);
  assertEquals(lines.map((line) => JSON.parse(line)).map(({ model, detail }) => [model, detail]), [
    ["j", "a wrong key at 0"],
    ["j", "a wrong key at 60000"],
    ["j", "no answer"],
  ]);
});

Deno.test("what is wrong with an answer that cannot be read is logged", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const text = "I think this reply deserves an 8.";
  const model = logJudge({ name: "j", ask: () => Promise.resolve({ text, isCut: false }) }, log);
  const graded = { userMessage: "a question", reply: "a reply", reference: "a reference" };
  for (let turn = 0; turn < 2; turn++) {
    const { result } = await judgeReply(graded, { model, votes: 1, signal, rubric: undefined });
    assertEquals(result.error, "judge_unreadable");
  }
  const logged = lines.map((line) => JSON.parse(line));
  assertEquals(logged.map(({ message, detail }) => [message, detail]), [
    ["the judge's answer cannot be read", "it has no complete JSON object"],
  ]);
});

Deno.test("the labels that a judge did not choose from are told to it, and not logged", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const asked: string[] = [];
  const model = logJudge({
    name: "j",
    ask({ messages }) {
      const said = messages.map(({ content }) => content).join("\n");
      asked.push(said);
      const nonce = said.match(/"nonce": "([^"]+)"/)![1]!;
      return Promise.resolve({ text: JSON.stringify({ nonce, intent: "x" }), isCut: false });
    },
  }, log);
  const schema = z.object({ intent: z.enum(["secret_refund", "secret_upgrade"]) });
  const form = { name: "labels", instructions: "", texts: {}, form: '"intent": string' };
  await assertRejects(
    () => askStructured({ ...form, schema, accepted: schema }, { model, signal }),
    UnreadableAnswer,
  );
  assertEquals(asked.map((text) => text.includes("secret_upgrade")), [false, true]);
  assertEquals(lines.map((line) => JSON.parse(line).detail), ["intent: invalid_value"]);
});
