const NULL_DEVICE = "/dev/null";

/** Kept for files, the database, workers, programs and connections that are being refused. */
export const RESERVED_DESCRIPTORS = 64;

/**
 * How many more files and sockets this process may open; counting stops at `upTo`. `undefined` if
 * that cannot be found out.
 *
 * It opens files and closes them again, because the limit itself cannot be read: Deno allows
 * `/proc/self/limits` only to processes that have every permission. Call it before anything else
 * runs in the process: for some milliseconds nobody else may be able to open a file.
 */
export function countFreeDescriptors(upTo: number): number | undefined {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < upTo) files.push(Deno.openSync(NULL_DEVICE));
    return files.length;
  } catch (error) {
    return (error as { code?: string }).code === "EMFILE" ? files.length : undefined;
  } finally {
    for (const file of files) file.close();
  }
}

export interface DescriptorNeeds {
  /** Connections from clients that are wanted at once. */
  connections: number;
  /** Connections to models, tools and judges that may be open while `requests` are running. */
  outgoing(requests: number): number;
}

export interface ConnectionPlan {
  /** Connections that may be open at once. */
  total: number;
  /** Connections that may wait to be accepted. They are accepted in one go, so each needs room. */
  backlog: number;
}

const MIN_BACKLOG = 16;
const MAX_BACKLOG = 511;

/** What a service that wants `needs` uses at most. */
export function descriptorsFor({ connections, outgoing }: DescriptorNeeds): number {
  return connections + outgoing(connections) + RESERVED_DESCRIPTORS + MAX_BACKLOG;
}

/**
 * How many connections a service may accept with `free` descriptors, so that it never runs out:
 * after one failed `accept` Deno's `node:http` accepts no more, even when there is room again. If
 * there is too little for both, clients and outgoing connections get one half each.
 */
export function planConnections(
  needs: DescriptorNeeds,
  free: number | undefined,
  { backlog }: { backlog?: number } = {},
): ConnectionPlan {
  if (free === undefined || free >= descriptorsFor(needs)) {
    return { total: needs.connections, backlog: MAX_BACKLOG };
  }
  backlog ??= Math.min(MAX_BACKLOG, Math.max(MIN_BACKLOG, Math.floor(free / 8)));
  const shared = Math.max(2, free - RESERVED_DESCRIPTORS - backlog);
  const outgoing = Math.min(needs.outgoing(needs.connections), Math.ceil(shared / 2));
  return { total: Math.min(needs.connections, shared - outgoing), backlog };
}
