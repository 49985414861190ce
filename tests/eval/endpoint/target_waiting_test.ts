import { assertEquals, assertRejects } from "@std/assert";
import type { TargetReply } from "../../../eval/endpoint/reply.ts";
import { createTarget } from "../../../eval/endpoint/target.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { providerError } from "../../fakes/eval_ports.ts";

const signal = new AbortController().signal;
const question = [{ role: "user" as const, content: "hello" }];
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

/** A target with so many calls under way; `answers` settle them. */
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
