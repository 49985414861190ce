import type { TargetReply } from "../../eval/ask/reply.ts";
import type { ConversationMessage, Target } from "../../eval/ask/target.ts";

/** A model under test that answers only when the test releases a call. */
export function gatedTarget(): {
  target: Target;
  /** The last message of every call. */
  asked: string[];
  /** The messages of the calls that were aborted. */
  aborted: string[];
  /** Resolves when this many calls have started. */
  reached(calls: number): Promise<void>;
  /** Answers the call with this number, counted from 0. */
  answer(call: number, reply?: string): void;
  /** Answers all calls, also later ones. */
  open(): void;
} {
  const asked: string[] = [];
  const aborted: string[] = [];
  const calls: PromiseWithResolvers<TargetReply>[] = [];
  const waiters: { calls: number; resolve: () => void }[] = [];
  let isOpen = false;
  const reply = (content: string): TargetReply => ({ content, usage: null });

  return {
    asked,
    aborted,
    target: {
      ask(conversation: ConversationMessage[], signal: AbortSignal) {
        const message = conversation.at(-1)!.content;
        const call = Promise.withResolvers<TargetReply>();
        asked.push(message);
        calls.push(call);
        const abort = () => {
          aborted.push(message);
          call.reject(signal.reason);
        };
        signal.addEventListener("abort", abort);
        if (isOpen) call.resolve(reply(`re: ${message}`));
        for (const waiter of waiters) if (calls.length >= waiter.calls) waiter.resolve();
        return call.promise.finally(() => signal.removeEventListener("abort", abort));
      },
    },
    reached(wanted) {
      if (calls.length >= wanted) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ calls: wanted, resolve }));
    },
    answer: (call, content = `re: ${asked[call]}`) => calls[call]!.resolve(reply(content)),
    open() {
      isOpen = true;
      for (const [index, call] of calls.entries()) call.resolve(reply(`re: ${asked[index]}`));
    },
  };
}
