import { createAssessor } from "../../eval/score/assessor.ts";
import type { ScoringPorts } from "../../eval/score/scoring_ports.ts";
import type { Interaction } from "../../eval/test/scenario.ts";
import { interaction, scenario } from "./eval_ports.ts";
import { scoringPorts } from "./scoring_ports.ts";

/** A turn whose label is `refund`. */
export const refund = (id: string, reference_reply: string) =>
  interaction(id, { reference_reply, reference_metadata: { intent: "refund" } });

/** A turn whose label is `delivery`. */
export const delivery = (id: string, reference_reply: string) =>
  interaction(id, { reference_reply, reference_metadata: { intent: "delivery" } });

/** Two turns of each label. */
export const BATCH = [
  refund("r1", "Your money goes back to your card within five days."),
  refund("r2", "We refund the full price to your card."),
  delivery("d1", "The parcel arrives on Thursday."),
  delivery("d2", "Your parcel was shipped and arrives soon."),
];

/** Assesses the turns of a batch with the usual doubles, except for those given. */
export function assessor(batch: Interaction[] = BATCH, more: Partial<ScoringPorts> = {}) {
  return createAssessor({ test_batch: [scenario("s", batch)], rubric: undefined, judge_votes: 1 }, {
    ports: scoringPorts(more),
    signal: new AbortController().signal,
  });
}

/** One reply of a turn, assessed. */
export function assess(subject: Interaction, reply: string, batch: Interaction[] = BATCH) {
  return assessor(batch).assess(subject, reply);
}
