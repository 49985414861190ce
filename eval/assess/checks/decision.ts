/** What became of a check: met (1), not met (0), or not decided (`null`), each but 1 with a reason. */
export interface Decision {
  value: 0 | 1 | null;
  reason?: string;
}

const MET: Decision = { value: 1 };

export function notMet(reason: string): Decision {
  return { value: 0, reason };
}

export function undecided(reason: string): Decision {
  return { value: null, reason };
}

/** Met if `holds`, else not met for this reason. */
export function decide(holds: boolean, reason: string): Decision {
  return holds ? MET : notMet(reason);
}

/** The opposite; what is not decided stays so. */
export function negated(decision: Decision): Decision {
  if (decision.value === null) return decision;
  return decision.value === 1 ? notMet("it is so, and must not be") : MET;
}
