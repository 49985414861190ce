import pLimit from "p-limit";
import { setImmediate } from "node:timers/promises";
import { type Interaction, type Scenario, systemPromptOf } from "../../test/scenario.ts";
import { listConversations, type RunPlan } from "../../test/conversations.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import {
  type Answer,
  ConversationTaken,
  type Finished,
  type RunPorts,
  type RunWork,
  type TakenConversation,
  type TimedReply,
} from "../manager/run_ports.ts";
import { referenceOf } from "../../score/references.ts";
import type { ReplyCircumstances, Spent } from "../../score/assessment.ts";
import type { ConversationMessage } from "../../ask/target.ts";
import type { TurnPosition } from "../../store/turn_record.ts";
import { ask, toAnswer, toMessage, toResult } from "./turn_result.ts";

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
    const taken = work.take();
    if (!taken) return false;
    const way: ConversationWay = {
      scenario: scenarios[taken.position.scenario]!,
      afterReferences: plan.history === "reference",
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

/**
 * All conversations of a run, in the order of the batch, for this process alone; without those that
 * an earlier process, or the run that this one retries, has finished.
 */
export function createLocalWork(
  plan: RunPlan,
  finished?: Pick<Finished, "isWhole">,
): RunWork {
  const queue = listConversations(plan);
  return {
    take() {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        const position = next.value;
        if (finished?.isWhole(position)) continue;
        const isContinued = finished !== undefined;
        return { position, isContinued, finish: () => {}, giveBack: () => {} };
      }
      return undefined;
    },
    wait: () => Promise.resolve("over"),
    close: () => Promise.resolve(),
  };
}

/** A message other than a system prompt. */
type SaidMessage = ConversationMessage & { role: "user" | "assistant" };

/** Starts work that runs while further turns are asked. Resolves when it has started. */
type BackgroundWork = (work: () => Promise<void>) => Promise<{ ended: Promise<void> }>;

/** How one attempt at a scenario is asked. */
interface ConversationWay {
  scenario: Scenario;
  /** Whether turns are asked after the references instead of the generated replies. */
  afterReferences: boolean;
}

/**
 * One conversation. Resolves when its last turn is answered; `isWhole` when its turns are stored: with
 * false if some are missing.
 */
async function converse(
  { scenario, afterReferences }: ConversationWay,
  taken: TakenConversation,
  ports: RunPorts & { background: BackgroundWork },
): Promise<{ isWhole: Promise<boolean> }> {
  const { position } = taken;
  const finished = taken.isContinued ? ports.finished : undefined;
  const known = await finished?.turns(position);
  const replies = await ports.replies?.(position);
  const storing = createTurnStoring(taken, ports);
  const systemPrompt = systemPromptOf(scenario);
  const history: ConversationMessage[] = systemPrompt
    ? [{ role: "system", content: systemPrompt }]
    : [];
  history.push(...scenario.prior_messages ?? []);
  /** For checks of the conversation: the model's replies, even if turns are asked after references. */
  const said: SaidMessage[] = [];
  let spent: Spent = { latencyMs: 0, outputTokens: 0 };
  for (const [turn, interaction] of scenario.interactions.entries()) {
    if (storing.isTaken() || ports.isPaused?.()) {
      return { isWhole: storing.ended().then(() => false) };
    }
    const stored = known?.get(turn);
    const answer: Answer = stored
      ? toAnswer(stored)
      : replies?.get(turn) ?? await ask(interaction, history, ports);
    if (!stored) {
      const saidBefore = said.length;
      const before = spent;
      await storing.begin({ ...position, turn }, {
        interaction,
        answer,
        conversation: () => said.slice(0, saidBefore),
        spentBefore: () => before,
      });
    }
    if (afterReferences) history.push(...say(interaction, referenceOf(interaction) ?? ""));
    if (!answer.reply) continue; // a failed turn is not part of the conversation
    said.push(...say(interaction, answer.reply.content));
    if (!afterReferences) history.push(...say(interaction, answer.reply.content));
    spent = spend(spent, answer);
  }
  return { isWhole: storing.ended().then(() => !storing.isTaken()) };
}

/** An answered turn, and what came before it. */
interface AnsweredTurn extends Pick<ReplyCircumstances, "conversation" | "spentBefore"> {
  interaction: Interaction;
  answer: Answer;
}

/** Scores the turns of a conversation in the background, and stores them in their order. */
function createTurnStoring(
  { signal: lost }: TakenConversation,
  { background, ...ports }: RunPorts & { background: BackgroundWork },
) {
  const { recorder } = ports;
  let isTaken = false;
  let allStored = Promise.resolve();

  async function score(turnPosition: TurnPosition, turn: AnsweredTurn) {
    const { interaction, answer } = turn;
    const started = performance.now();
    const result = await toResult(interaction, answer, { ...ports, ...turn, turnPosition });
    const { tookMs: askingMs = answer.latencyMs ?? 0 } = answer;
    return { result, tookMs: Math.round(askingMs + performance.now() - started) };
  }

  return {
    /** True if another process has taken the conversation: its further turns are not stored here. */
    isTaken: () => isTaken,
    /** Resolves when all turns that have begun are stored. */
    ended: () => allStored,
    /** Waits until there is room for more work. */
    async begin(turnPosition: TurnPosition, turn: AnsweredTurn): Promise<void> {
      const storedBefore = allStored;
      const { ended } = await background(async () => {
        if (isTaken) return; // another process asks this turn again
        const { result, tookMs } = await score(turnPosition, turn);
        await storedBefore;
        isTaken ||= lost?.aborted ?? false;
        if (isTaken) return;
        try {
          await recorder.record(turnPosition, result, { tookMs });
        } catch (error) {
          if (!(error instanceof ConversationTaken)) throw error;
          isTaken = true;
        }
      });
      allStored = ended;
    },
  };
}

function say(interaction: Interaction, reply: string): SaidMessage[] {
  return [toMessage(interaction), { role: "assistant", content: reply }];
}

function spend({ latencyMs, outputTokens }: Spent, answer: TimedReply): Spent {
  const tokens = answer.reply.usage?.output_tokens;
  return {
    latencyMs: latencyMs === undefined || answer.latencyMs === undefined
      ? undefined
      : latencyMs + answer.latencyMs,
    outputTokens: outputTokens === null || tokens === undefined ? null : outputTokens + tokens,
  };
}
