import type { Scenario } from "../../schemas/scenario.ts";
import {
  firstTurnOf,
  hasReferenceHistory,
  listConversations,
  type RunPlan,
} from "../../schemas/conversations.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { createBackgroundWork } from "../manager/background_work.ts";
import { type ConversationWay, converse } from "./conversation.ts";
import type { RunPorts } from "../manager/run_ports.ts";
import { createLocalWork } from "../manager/work.ts";

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
  const { work = createLocalWork(plan, ports.finished) } = ports;
  const yieldIfDue = createYielder();
  const failure = new AbortController(); // a fault in one conversation ends the others
  const signal = AbortSignal.any([ports.signal, failure.signal]);
  const { isPaused = () => false } = ports;
  const workers = listConversations(plan).take(ports.concurrency).toArray().length;
  const background = createBackgroundWork(workers);

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
    try {
      while (!isPaused()) {
        signal.throwIfAborted();
        const hadOne = await ports.limiter(converseNext, signal);
        if (!hadOne && await work.wait(signal) === "over") return;
        await yieldIfDue();
      }
    } finally {
      await background.end();
    }
  }

  const all = Array.from({ length: workers }, begin);
  try {
    await Promise.all(all);
  } catch (error) {
    failure.abort(error);
    await Promise.allSettled(all); // no turn is recorded after the run has ended
    throw error;
  }
  return isPaused() ? "paused" : "finished";
}
