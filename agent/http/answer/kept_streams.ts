import { abortError } from "../../../shared/service/waiting.ts";
import { notFound } from "../../../shared/service/errors.ts";
import type { OutgoingEvent, Produce, Push } from "./event_stream.ts";

/** How long a stream without a reader is kept, and its run continues. */
const KEPT_MS = 60_000;
/** Characters of one stream. Beyond them its first events are dropped. */
const MAX_CHARACTERS = 4_000_000;

interface KeptStream {
  events: OutgoingEvent[];
  /** Events that were dropped. */
  dropped: number;
  characters: number;
  hasEnded: boolean;
  /** Why it failed before its first event. */
  failure?: unknown;
  readers: number;
  /** Settled with the next change. */
  changed: PromiseWithResolvers<void>;
  ending: AbortController;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

/** A run whose events are kept. */
interface Kept {
  /** Hard to guess: callers without API keys are all one caller. */
  id: string;
  caller: string;
  produce: Produce;
  sendError: (push: Push, error: unknown) => Promise<void>;
  /** The run has ended, with or without a reader. */
  onEnd: () => void;
}

export type KeptStreams = ReturnType<typeof createKeptStreams>;

/**
 * The streams that can be taken up again. Their runs do not end with a reader that leaves: they
 * continue for a minute, in which another reader may come.
 */
export function createKeptStreams({ keptMs = KEPT_MS, maxCharacters = MAX_CHARACTERS } = {}) {
  const streams = new Map<string, KeptStream>();

  function append(id: string, stream: KeptStream, event: OutgoingEvent): void {
    const number = stream.dropped + stream.events.length + 1;
    stream.events.push("data" in event ? { ...event, id: `${id}/${number}` } : event);
    stream.characters += sizeOf(event);
    while (stream.characters > maxCharacters && stream.events.length > 1) {
      stream.characters -= sizeOf(stream.events.shift()!);
      stream.dropped++;
    }
    change(stream);
  }

  function change(stream: KeptStream): void {
    stream.changed.resolve();
    stream.changed = Promise.withResolvers();
  }

  /** Passes on the events after the first `seen`, and those that follow. */
  function read(key: string, stream: KeptStream, seen: number): Produce {
    return async ({ push, signal }) => {
      stream.readers++;
      clearTimeout(stream.timer);
      const left = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => left.resolve(), { once: true });
      try {
        for (let next = seen;;) {
          if (signal.aborted) throw abortError(signal);
          const { dropped, events, changed } = stream;
          if (next < dropped) throw notFound("the first events of this stream are no longer kept");
          if (next < dropped + events.length) await push(events[next++ - dropped]!);
          else if (stream.failure !== undefined) throw stream.failure;
          else if (stream.hasEnded) return;
          else await Promise.race([changed.promise, left.promise]);
        }
      } finally {
        if (--stream.readers === 0) {
          stream.timer = setTimeout(() => {
            stream.ending.abort(abortError());
            if (streams.get(key) === stream) streams.delete(key);
          }, keptMs);
        }
      }
    };
  }

  return {
    /** Runs `produce` once, and returns its first reader. */
    keep({ id, caller, produce, sendError, onEnd }: Kept): Produce {
      const key = `${caller} ${id}`;
      const stream: KeptStream = {
        events: [],
        dropped: 0,
        characters: 0,
        hasEnded: false,
        readers: 0,
        changed: Promise.withResolvers(),
        ending: new AbortController(),
      };
      streams.get(key)?.ending.abort(abortError()); // its conversation goes on with this run
      streams.set(key, stream);
      const push: Push = (event) => Promise.resolve(append(id, stream, event));
      const isOpen = () => stream.events.length > 0;
      void (async () => {
        try {
          await produce({ push, signal: stream.ending.signal, isOpen });
        } catch (error) {
          if (isOpen()) await sendError(push, error);
          else stream.failure = error;
        } finally {
          stream.hasEnded = true;
          onEnd();
          change(stream);
        }
      })();
      return read(key, stream, 0);
    },
    has: (id: string, caller: string) => streams.has(`${caller} ${id}`),
    /** A reader of the events after `lastEventId`; `undefined` if the stream is no longer kept. */
    resume(
      { id, caller, lastEventId }: { id: string; caller: string; lastEventId?: string | null },
    ): Produce | undefined {
      const key = `${caller} ${id}`;
      const stream = streams.get(key);
      if (!stream) return undefined;
      const seen = lastEventId?.startsWith(`${id}/`) ? Number(lastEventId.slice(id.length + 1)) : 0;
      return read(key, stream, Number.isSafeInteger(seen) && seen > 0 ? seen : 0);
    },
  };
}

const sizeOf = (event: OutgoingEvent) => "data" in event ? event.data.length : 0;
