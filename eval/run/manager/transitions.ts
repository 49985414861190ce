/** Where a run is in this process. */
export type LifeState = "queued" | "starting" | "active" | "faulty" | "over";

/** What happens to it there. */
export type LifeEvent = "placed" | "loaded" | "ended" | "failed" | "due" | "dropped";

const TRANSITIONS: Record<LifeState, Partial<Record<LifeEvent, LifeState>>> = {
  /** Waits for a place (`MAX_RUNS`). */
  queued: { placed: "starting", dropped: "over" },
  /** Is read from the store. */
  starting: { loaded: "active", failed: "faulty", dropped: "over" },
  active: { ended: "over", failed: "faulty" },
  /** Waits until the database works again. */
  faulty: { due: "queued", dropped: "over" },
  over: {},
};

/** The state after an event; an event that the state does not have is a fault of the program. */
export function transition(state: LifeState, event: LifeEvent): LifeState {
  const next = TRANSITIONS[state][event];
  if (!next) throw new Error(`a run that is ${state} cannot be ${event}`);
  return next;
}
