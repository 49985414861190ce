import type { StoredRun } from "../../store/runs/run_record.ts";
import type { RunWork, TakenConversation } from "../manager/work.ts";

/** A run beside the other runs of its group. */
interface InterleavedRun {
  /** The same work, whose conversations begin when it is the run's turn. */
  share(work: RunWork): RunWork;
  /** Call it when the run has ended in this process. */
  leave(): void;
}

/** Lets the runs of a group that ask the same endpoint take turns. */
interface Interleaving {
  /**
   * To be called before the run's first conversation, and for all runs of a new group before the
   * first conversation of any. `undefined` if the run is in no group.
   */
  enter(run: Pick<StoredRun, "group" | "endpoint">): InterleavedRun | undefined;
}

interface Member {
  /** Conversations begun in this process. */
  begun: number;
  /** True if there is no conversation for it to begin: the others do not wait for it. */
  isIdle: boolean;
  /** Workers that wait for the run's turn. */
  held: (() => void)[];
}

/**
 * No run of a group begins many conversations before the others have begun as many: all models meet
 * the endpoint at the same time of day and under the same load. A run may be ahead by its share of
 * `concurrency`. What it does not use of it goes to the runs that are behind, so that the
 * group as a whole is not slower.
 */
export function createInterleaving(concurrency: number): Interleaving {
  const groups = new Map<string, Set<Member>>();

  function enter(key: string): InterleavedRun {
    const members = groups.get(key) ?? new Set();
    groups.set(key, members);
    // One that comes later, as a retry does, is not waited for until it has caught up.
    const member: Member = { begun: fewestBegun(members) ?? 0, isIdle: false, held: [] };
    members.add(member);
    return {
      share: (work) => createInterleavedWork(work, { member, members, concurrency }),
      leave() {
        members.delete(member);
        if (members.size === 0) groups.delete(key);
        release(members, concurrency);
      },
    };
  }

  return {
    enter({ group, endpoint }) {
      return group ? enter(JSON.stringify([group.id, new URL(endpoint).origin])) : undefined;
    },
  };
}

interface Membership {
  member: Member;
  /** All of the same group and endpoint, this one included. */
  members: Set<Member>;
  concurrency: number;
}

function createInterleavedWork(
  work: RunWork,
  { member, members, concurrency }: Membership,
): RunWork {
  const isHeld = () => mayBegin(member, members, concurrency) < 1;

  async function take(): Promise<TakenConversation | undefined> {
    if (member.isIdle) member.begun = Math.max(member.begun, fewestBegun(members) ?? 0);
    if (isHeld()) return undefined;
    member.begun++;
    const taken = await work.take();
    member.isIdle = taken === undefined;
    if (!taken) member.begun--;
    release(members, concurrency);
    return taken;
  }

  /** Resolves when it may be the run's turn; rejects if the signal aborts. */
  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        member.held.splice(member.held.indexOf(go), 1);
        reject(signal.reason);
      };
      member.held.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return {
    take,
    async wait(signal) {
      signal.throwIfAborted();
      if (member.isIdle) return await work.wait(signal);
      if (isHeld()) await turn(signal);
      return "more";
    },
    close: () => work.close(),
  };
}

function fewestBegun(members: Iterable<Member>): number | undefined {
  let fewest: number | undefined;
  for (const { begun, isIdle } of members) {
    if (!isIdle) fewest = Math.min(begun, fewest ?? begun);
  }
  return fewest;
}

/** How many more conversations a run may begin now. */
function mayBegin(member: Member, members: Set<Member>, concurrency: number): number {
  const fewest = fewestBegun([...members].filter((other) => other !== member));
  if (fewest === undefined) return Infinity;
  const ahead = Math.max(1, Math.floor(concurrency / members.size));
  return fewest + ahead - member.begun;
}

/** Wakes as many workers as may begin a conversation, and those of runs that have none left. */
function release(members: Set<Member>, concurrency: number): void {
  for (const member of members) {
    const count = member.isIdle ? Infinity : mayBegin(member, members, concurrency);
    for (const go of member.held.splice(0, Math.max(0, count))) go();
  }
}
