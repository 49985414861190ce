import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { gradeReply } from "../../../../eval/assess/judge/grade.ts";
import { logJudge } from "../../../../eval/assess/judge/logged_judge.ts";
import { askStructured, UnreadableAnswer } from "../../../../eval/assess/judge/structured.ts";
import { createLogger } from "../../../../shared/log.ts";
import { ProviderError } from "../../../../shared/providers/provider.ts";

const signal = new AbortController().signal;
const question = { name: "grade", messages: [], schema: {} };

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
    return assertRejects(() => judge.ask(question, signal), ProviderError, message);
  };
  await judge.ask(question, signal);
  for (const at of [0, 59_999, 60_000]) {
    time = at;
    await fail("provider_auth", `a wrong key at ${at}`);
  }
  await fail("provider_timeout", "no answer");
  failure = new DOMException("the client left", "AbortError");
  await assertRejects(() => judge.ask(question, signal), DOMException);
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
    const { result } = await gradeReply(graded, { model, votes: 1, signal, rubric: undefined });
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
  const form = { name: "labels", instructions: "", texts: "", form: '"intent": string' };
  await assertRejects(
    () => askStructured({ ...form, schema, accepted: schema }, { model, signal }),
    UnreadableAnswer,
  );
  assertEquals(asked.map((text) => text.includes("secret_upgrade")), [false, true]);
  assertEquals(lines.map((line) => JSON.parse(line).detail), ["intent: invalid_value"]);
});
