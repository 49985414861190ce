// deno-lint-ignore-file no-console -- its only way to tell where it listens
/** A hub, run as a process of its own, that streams a reply of 20 words, one per 250 ms. */
const WORDS = 20;
const PAUSE_MS = 250;

if (import.meta.main) {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`listens on http://127.0.0.1:${port}`),
  }, () => {
    const encoder = new TextEncoder();
    const chunk = (choice: unknown) =>
      encoder.encode(
        `data: ${
          JSON.stringify({ id: "c", model: "a/b", choices: [{ index: 0, ...choice as object }] })
        }\n\n`,
      );
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        if (sent++ < WORDS) return controller.enqueue(chunk({ delta: { content: "word " } }));
        controller.enqueue(chunk({ delta: {}, finish_reason: "stop" }));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
}
