import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createWatchdog } from "../../../shared/http/server/watchdog.ts";

const INTERVAL_MS = 20;

function holdEventLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

Deno.test("a blocked event loop is not mistaken for a service that accepts no connections", async () => {
  const reasons: string[] = [];
  const probed = Promise.withResolvers<void>();
  let probes = 0;
  const server = createServer((incoming, outgoing) => {
    holdEventLoop(20 * INTERVAL_MS);
    watchdog.answer(incoming, outgoing);
    if (++probes === 4) probed.resolve();
  });
  const watchdog = createWatchdog({
    intervalMs: INTERVAL_MS,
    onDeaf: (reason) => {
      reasons.push(reason);
      probed.resolve();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  watchdog.start(server.address() as AddressInfo);
  await probed.promise;
  watchdog.stop();
  await new Promise((resolve) => server.close(resolve));
  assertEquals(reasons, []);
});

Deno.test("a listener fails after three probes without an answer; a refusal is an answer", async () => {
  const awake = setInterval(() => {}, INTERVAL_MS); // the watchdog alone keeps no process alive
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address: AddressInfo = { address: "127.0.0.1", family: "IPv4", port: silent.addr.port };
  let connections = 0;
  const deaf = Promise.withResolvers<string>();
  const watchdog = createWatchdog({
    intervalMs: INTERVAL_MS,
    onDeaf: deaf.resolve,
    connect(to) {
      connections++;
      return Deno.connect(to);
    },
  });
  watchdog.start(address);
  assertEquals(await deaf.promise, `no answer within ${INTERVAL_MS} ms`);
  assertEquals(connections, 3);
  silent.close();

  const refusing = createServer();
  refusing.removeAllListeners("connection");
  const refused = Promise.withResolvers<void>();
  let refusals = 0;
  refusing.on("connection", (socket) => {
    socket.destroy();
    if (++refusals === 5) refused.resolve();
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const calm = createWatchdog({ intervalMs: INTERVAL_MS, onDeaf: refused.reject });
  calm.start(refusing.address() as AddressInfo);
  await refused.promise;
  calm.stop();
  await new Promise((resolve) => refusing.close(resolve));
  clearInterval(awake);
});

Deno.test("a watchdog that is stopped during a probe makes no further one, and reports nothing", async () => {
  let probes = 0;
  const probing = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Deno.Conn>();
  const watchdog = createWatchdog({
    intervalMs: 1,
    onDeaf: () => probes += 100,
    connect() {
      probes++;
      probing.resolve();
      return answer.promise;
    },
  });
  const awake = setInterval(() => {}, 1);
  watchdog.start({ address: "127.0.0.1", family: "IPv4", port: 1 });
  await probing.promise;
  watchdog.stop();
  answer.reject(new Error("closed"));
  await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  clearInterval(awake);
  assertEquals(probes, 1);
});
