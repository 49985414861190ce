import {
  type ConnectionPlan,
  countFreeDescriptors,
  type DescriptorNeeds,
  descriptorsFor,
  planConnections,
} from "./descriptors.ts";

/** How many connections there is room for, as far as it had to be found out. */
export interface ConnectionRoom extends Readonly<ConnectionPlan> {
  /** Call it with the number of connections or of requests that will be open. */
  expect(open: number): void;
}

export interface ConnectionRoomOptions {
  /** Called if there may be fewer connections than are wanted. */
  onLowered(total: number): void;
  count?: typeof countFreeDescriptors;
}

/** So many connections or requests are safe by the count at the start. */
const FEW = 32;

/**
 * Counting all descriptors takes a tenth of a second, a third of the agent's start. So only those
 * are counted at first that a few clients and the queue need, and the others when there are more
 * clients. Call it before anything else runs in the process; see `countFreeDescriptors`.
 */
export function createConnectionRoom(
  needs: DescriptorNeeds,
  { onLowered, count = countFreeDescriptors }: ConnectionRoomOptions,
): ConnectionRoom {
  const few = Math.min(FEW, needs.connections);
  const enoughForFew = descriptorsFor({ ...needs, connections: few });
  const counted = count(enoughForFew);
  let isKnown = few === needs.connections || counted === undefined || counted < enoughForFew;
  let plan = planConnections(needs, counted === enoughForFew ? undefined : counted);
  if (plan.total < needs.connections) onLowered(plan.total);

  return {
    get total() {
      return plan.total;
    },
    get backlog() {
      return plan.backlog;
    },
    expect(open) {
      if (isKnown || open <= few) return;
      isKnown = true;
      const more = count(descriptorsFor(needs) - open);
      plan = planConnections(needs, more === undefined ? undefined : open + more, plan);
      if (plan.total < needs.connections) onLowered(plan.total);
    },
  };
}
