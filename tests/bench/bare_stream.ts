/** Reads a streamed completion and does nothing else: `bare_stream.ts URL`. Prints its processor time. */
import process from "node:process";

const response = await fetch(Deno.args[0]!, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "bench/model", stream: true, messages: [] }),
});
const before = process.cpuUsage();
let rest = "";
let chunks = 0;
for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
  const events = (rest + text).split("\n\n");
  rest = events.pop()!;
  for (const event of events) {
    if (event === "data: [DONE]") continue;
    if (JSON.parse(event.slice("data: ".length)).choices[0]?.delta.content) chunks++;
  }
}
const { user, system } = process.cpuUsage(before);
Deno.stdout.writeSync(new TextEncoder().encode(`${chunks} ${(user + system) / 1000}\n`));
