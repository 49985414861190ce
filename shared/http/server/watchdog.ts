import type { AddressInfo } from "node:net";

interface WatchdogOptions {
  /** From one probe to the next, and the longest that the answer to one may take. */
  intervalMs: number;
  /** Called once, after several probes in a row were not answered. */
  onDeaf(reason: string): void;
  /** Opens a connection to the service itself; for tests. */
  connect?: (address: { hostname: string; port: number }) => Promise<Deno.Conn>;
}

/** Probes without an answer, one after the other, after which the service counts as deaf. */
const MAX_MISSED = 3;
/** The timeout is counted in steps: a blocked event loop delays only one of them. */
const STEPS = 10;

/**
 * Connects to its own port regularly, as a client does. A service that no longer accepts
 * connections cannot notice it otherwise: nothing fails, and no request comes. Any answer proves
 * that connections are accepted, also a refusal or a closed connection.
 */
export function createWatchdog({ intervalMs, onDeaf, connect = Deno.connect }: WatchdogOptions) {
  /** Of its probe. Only this process knows it. */
  const path = `/watchdog/${crypto.randomUUID()}`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let missed = 0;

  async function probe(address: { hostname: string; port: number }): Promise<string | undefined> {
    const patience = createPatience(intervalMs);
    let connection: Deno.Conn | undefined;
    const answered = (async () => {
      connection = await connect(address);
      if (patience.isOver) return connection.close();
      const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`;
      await connection.write(new TextEncoder().encode(request));
      await connection.read(new Uint8Array(64));
    })().then(() => undefined, explain);
    const outcome = await Promise.race([answered, patience.ended]);
    patience.stop();
    try {
      connection?.close();
    } catch {
      // closed by the other end
    }
    return outcome;
  }

  async function round(address: { hostname: string; port: number }): Promise<void> {
    const started = performance.now();
    const reason = await probe(address);
    if (!isRunning) return;
    missed = reason === undefined ? 0 : missed + 1;
    if (missed >= MAX_MISSED) {
      isRunning = false;
      onDeaf(reason!);
    } else {
      schedule(address, Math.max(0, started + intervalMs - performance.now()));
    }
  }

  function schedule(address: { hostname: string; port: number }, ms: number): void {
    timer = setTimeout(() => round(address), ms);
    Deno.unrefTimer(timer);
  }

  return {
    path,
    start({ address, family, port }: AddressInfo): void {
      isRunning = true;
      const anyAddress = family === "IPv6" ? "::" : "0.0.0.0";
      const loopback = family === "IPv6" ? "::1" : "127.0.0.1";
      schedule({ hostname: address === anyAddress ? loopback : address, port }, intervalMs);
    },
    stop(): void {
      isRunning = false;
      clearTimeout(timer);
    },
  };
}

/** A closed connection was accepted before; one that could not be opened was not. */
function explain(error: unknown): string | undefined {
  const { name, message } = error as Error;
  const wasAccepted = ["ConnectionReset", "BrokenPipe", "BadResource", "Interrupted"];
  return wasAccepted.includes(name) ? undefined : message;
}

/** Time that passes only while the event loop runs. */
function createPatience(ms: number) {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let steps = 0;
  const state = {
    isOver: false,
    ended,
    stop() {
      state.isOver = true;
      clearInterval(timer);
    },
  };
  const timer = setInterval(() => {
    if (++steps < STEPS) return;
    state.stop();
    resolve(`no answer within ${ms} ms`);
  }, ms / STEPS);
  Deno.unrefTimer(timer);
  return state;
}
