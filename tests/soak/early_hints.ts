// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno run --allow-net tests/soak/early_hints.ts`, for a report to Deno: while a server sends
 * `103 Early Hints` without end, `fetch` takes the event loop for seconds at a time. Expected: it
 * yields after some of them, or gives up. With Deno 2.7.7 and 2.9.5 the last line has 1,500 to 2,000
 * ms instead of about 10.
 */
const server = `
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  postMessage(listener.addr.port);
  const hint = "HTTP/1.1 103 Early Hints\\r\\nlink: </a>\\r\\n\\r\\n";
  const hints = new TextEncoder().encode(hint.repeat(1000));
  const connection = await listener.accept();
  await connection.read(new Uint8Array(1000));
  for (let at = 0;; at %= hints.length) at += await connection.write(hints.subarray(at));`;

if (import.meta.main) {
  const source = URL.createObjectURL(new Blob([server], { type: "text/javascript" }));
  const worker = new Worker(source, { type: "module" });
  const { data: port } = await new Promise<MessageEvent>((resolve) => worker.onmessage = resolve);
  let [last, longest] = [performance.now(), 0];
  setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  const signal = AbortSignal.timeout(10_000);
  await fetch(`http://127.0.0.1:${port}/`, { signal }).catch((error) => console.log(error.name));
  console.log(`longest time between two turns of the event loop: ${Math.round(longest)} ms`);
  Deno.exit();
}
