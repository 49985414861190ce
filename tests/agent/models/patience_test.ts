import { assertEquals, assertRejects } from "@std/assert";
import { loadOpenAI } from "../../../shared/providers/openai_provider.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { providerOf, REQUEST } from "../../fakes/openai_provider.ts";
import { completionChunks, startProviderDouble } from "../../fakes/provider_double.ts";

Deno.test("keep-alive comments count as life: a queued model is waited for", async () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  await using double = await startProviderDouble(() => {
    let comments = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (comments++ < 25) return controller.enqueue(encode(": queued\n\n"));
        for (const chunk of completionChunks({ content: "Hi" })) {
          controller.enqueue(encode(`data: ${JSON.stringify(chunk)}\n\n`));
        }
        controller.enqueue(encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  await loadOpenAI(); // takes its time on a machine that is busy
  // Less than the comments take together, and more than there is between two of them.
  const deltas = await Array.fromAsync(providerOf(double, { timeoutMs: 2_000 }).stream(REQUEST));
  const last = deltas.at(-1);
  assertEquals(last?.type === "reply" && last.reply.content, "Hi");
});

Deno.test("a spent quota is not asked for again", async () => {
  await using double = await startProviderDouble(() =>
    Response.json({ error: { code: "insufficient_quota", message: "No credit." } }, { status: 429 })
  );
  const provider = providerOf(double, { retries: 2 });
  const error = await assertRejects(() => provider.complete(REQUEST), ProviderError);
  assertEquals([error.code, double.requests.length], ["rate_limited", 1]);
});
