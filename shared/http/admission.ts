import { createPlaces } from "./places.ts";
import { shuttingDown } from "./refusal.ts";

/** Whether the server takes in what comes: not while it is full, and no more once it stops. */
export interface Admission {
  /** Requests under way. */
  readonly taken: number;
  readonly isStopping: boolean;
  stop(): void;
  /** True once the time to finish is over: what still runs is given up, and its callers are told. */
  readonly isEnding: boolean;
  end(): void;
  /** Calls back at `end`, and returns the function that forgets it. */
  onEnd(callback: () => void): () => void;
  /** Takes a place and returns the function that gives it back. Throws 503 where there is none. */
  take(): () => void;
}

/** `maxRequests` may be under way at once. */
export function createAdmission(maxRequests: number): Admission {
  const places = createPlaces({ limit: maxRequests, what: "requests" });
  const callbacks = new Set<() => void>();
  let isStopping = false;
  let isEnding = false;
  return {
    get taken() {
      return places.taken;
    },
    get isStopping() {
      return isStopping;
    },
    stop() {
      isStopping = true;
    },
    get isEnding() {
      return isEnding;
    },
    end() {
      isStopping = isEnding = true;
      for (const callback of callbacks) callback();
      callbacks.clear();
    },
    onEnd(callback) {
      if (isEnding) callback();
      else callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
    take() {
      if (isStopping) throw shuttingDown();
      return places.take();
    },
  };
}
