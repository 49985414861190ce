import type { Logger } from "../service/log.ts";
import type { Admission } from "./connection.ts";

/** How a service ends. */
export interface StopOptions {
  /** Names the service in its own log lines. */
  name: string;
  log: Logger;
  /** How long running requests may take to finish after a signal to stop. */
  graceMs: number;
  /** Ends the background work while the last requests are answered. */
  stop?: () => Promise<void>;
  /** Aborts what `stop` still waits for when the grace time is over. */
  abandon?: () => void;
  /** Closes the service's resources, after the last answer. */
  close?: () => Promise<void>;
}

interface StoppedServer {
  admission: Admission;
  /** Closes the port; settles when the last running request is answered. */
  finish(): Promise<unknown>;
  /** Closes all connections. */
  cut(): void;
}

/** Time for the answers that say that the service is stopping. */
const LAST_WORDS_MS = 1000;
/** Time for closing resources: a tool server that is a program takes five seconds to end. */
const CLOSE_MS = 6000;
/** Time for the log lines of requests that are cut. */
const LAST_LINES_MS = 50;

/**
 * The function that a signal calls. The first call stops accepting and lets what is running finish
 * within the grace time. What still runs after it, or at the second call, is aborted: its callers
 * get an answer before their connections are closed, so that they know that the service stopped. A
 * third call ends the process at once.
 */
export function createStop(
  { name, log, graceMs, ...options }: StopOptions,
  { admission, finish, cut }: StoppedServer,
): () => void {
  const hurry = Promise.withResolvers<void>();
  let signals = 0;

  async function stop(): Promise<void> {
    log.info(`${name} is stopping`, { grace_ms: graceMs, running: admission.used });
    admission.stop();
    const ended = Promise.all([finish(), options.stop?.()]);
    if (!await settles(ended, { ms: graceMs, unless: hurry.promise })) await giveUp(ended);
    await settles(options.close?.(), { ms: CLOSE_MS });
    log.info(`${name} has stopped`);
    exit();
  }

  async function giveUp(ended: Promise<unknown>): Promise<void> {
    log.warn(`${name} stopped with requests still running`, { running: admission.used });
    admission.end();
    options.abandon?.();
    if (await settles(ended, { ms: LAST_WORDS_MS })) return;
    cut();
    await settles(ended, { ms: LAST_LINES_MS });
  }

  return () => {
    signals++;
    if (signals === 1) {
      stop().catch((error) => {
        log.error(`${name} could not stop properly`, { error });
        exit();
      });
    } else if (signals === 2) hurry.resolve();
    else exit();
  };
}

function exit(): void {
  try {
    Deno.exit(0);
  } catch {
    // under `--watch` the process ends a moment later
  }
}

/** True if the work is done in time. Rejects as the work does. */
async function settles(
  work: Promise<unknown> | undefined,
  { ms, unless }: { ms: number; unless?: Promise<void> },
): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  unless?.then(() => late.resolve(false));
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ctrl-C, a service manager or a CI system, and a terminal that is closed. */
const SIGNALS: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Two signals within this time are one Ctrl-C. */
const ECHO_MS = 250;

/**
 * Calls back at each signal to stop, and returns the function that ends that. A terminal's Ctrl-C
 * reaches `deno task` and the program that it runs, to which the task then passes it on: the second
 * is an echo of the first, and must not count as a second request to stop.
 */
export function onStopSignal(callback: () => void): () => void {
  let heardAt = -Infinity;
  const hear = () => {
    const isEcho = performance.now() - heardAt < ECHO_MS;
    heardAt = performance.now();
    if (!isEcho) callback();
  };
  for (const signal of SIGNALS) Deno.addSignalListener(signal, hear);
  return () => {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, hear);
  };
}
