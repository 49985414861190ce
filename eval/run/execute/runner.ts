import pLimit from "p-limit";
import { setImmediate } from "node:timers/promises";
import type { Scenario } from "../../schemas/scenario.ts";
import {
  firstTurnOf,
  hasReferenceHistory,
  listConversations,
  type RunPlan,
} from "../../schemas/conversations.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { type BackgroundWork, type ConversationWay, converse } from "./conversation.ts";
import { createLocalWork, type RunPorts } from "../manager/run_ports.ts";

/**
 * Runs the conversation of every scenario `attempts` times. Conversations run concurrently, the
 * turns of one conversation in order. As many replies as there are workers are assessed and recorded
 * while others are being asked for, so that neither a judge nor the disk slows the endpoint's calls
 * down. Rejects if the signal is aborted or the service itself fails, after the last running call has
 * ended. A turn whose call fails does not reject: it has a result with an `error`.
 */
export async function runScenarios(
  plan: RunPlan & { scenarios: Scenario[] },
  ports: RunPorts,
): Promise<"finished" | "paused"> {
  const { scenarios } = plan;
  const { work = createLocalWork(plan, ports.finished), isPaused = () => false } = ports;
  const yieldIfDue = createYielder();
  const failure = new AbortController(); // a fault in one conversation ends the others
  const signal = AbortSignal.any([ports.signal, failure.signal]);
  const workers = listConversations(plan).take(ports.concurrency).toArray().length;
  const underWay = new Set<Promise<void>>();
  const withinLimit = pLimit(workers);

  /**
   * Assesses a reply once the event loop has nothing else to do: if many replies arrive together,
   * the next questions are sent first, and the replies are assessed while the endpoint is busy.
   */
  const background: BackgroundWork = async (assess) => {
    const started = Promise.withResolvers<void>();
    const ended = withinLimit(async () => {
      started.resolve();
      await setImmediate();
      while (yieldIfDue.isDue()) await yieldIfDue(); // long replies take some milliseconds each
      await assess();
    });
    underWay.add(ended);
    ended.catch((error) => failure.abort(error)).finally(() => underWay.delete(ended));
    await started.promise;
    return { ended };
  };

  /** False if there is no conversation to take at this moment. */
  async function converseNext(): Promise<boolean> {
    const taken = await work.take();
    if (!taken) return false;
    const { position: { scenario: index, attempt } } = taken;
    const way: ConversationWay = {
      scenario: scenarios[index]!,
      firstTurn: firstTurnOf(plan, attempt),
      afterReferences: hasReferenceHistory(plan, attempt),
    };
    const own = taken.signal ? AbortSignal.any([signal, taken.signal]) : signal;
    try {
      const { isWhole } = await converse(way, taken, { ...ports, signal: own, background });
      isWhole.then((whole) => whole ? taken.finish() : taken.giveBack(), taken.giveBack);
    } catch (error) {
      taken.giveBack();
      if (signal.aborted || !taken.signal?.aborted) throw error;
    }
    return true;
  }

  // A worker waits for one conversation at a time: a large run never puts all of its conversations in
  // front of a small run.
  async function begin(): Promise<void> {
    while (!isPaused()) {
      signal.throwIfAborted();
      const hadOne = await ports.limiter(converseNext, signal);
      if (!hadOne && await work.wait(signal) === "over") return;
      await yieldIfDue();
    }
  }

  const all = Array.from({ length: workers }, begin);
  await Promise.all(all).catch((error) => failure.abort(error));
  await Promise.allSettled(all);
  while (underWay.size > 0) await Promise.allSettled(underWay); // no turn is recorded after the end
  failure.signal.throwIfAborted();
  return isPaused() ? "paused" : "finished";
}
