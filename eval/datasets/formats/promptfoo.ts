import pLimit from "p-limit";
import {
  createWorkerCall,
  type WorkerCall,
  type WorkerPort,
  WorkerUnavailable,
} from "../../../shared/background/worker_call.ts";
import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import { type DatasetFormat, type Draft, ImportError } from "./format.ts";
import { readWhole } from "./lines.ts";

/** What the worker is sent: a whole file, then `next` for each further part of its tests. */
export type FileWork = { text: string } | "next";

/** Some of the tests of a file. */
export interface FilePart {
  drafts: Draft[];
  /** What has no counterpart, how often it occurs, and in which line first. */
  leftOut: Map<string, { count: number; line: number }>;
  /** Set if the file cannot be read further. */
  fault?: { line: number; reason: string };
  isOver: boolean;
}

/** Limit of one part; the largest accepted files take half of it for the first one. */
const TIMEOUT_MS = 60_000;

/** A file takes up to half a gigabyte while it is read, so they are read one after another. */
const inTurn = pLimit(1);

/** A configuration of promptfoo, or its list of tests alone. */
export const promptfoo: DatasetFormat = {
  name: "promptfoo",
  about: "a configuration of promptfoo in YAML or JSON: tests with vars and assert",
  isWhole: true,
  async *read(pieces, { leaveOut }) {
    const text = await readWhole(pieces);
    using _turn = await takeTurn();
    using call = createWorkerCall<FileWork, FilePart>(startWorker, {
      name: "promptfoo",
      timeoutMs: TIMEOUT_MS,
    });
    let work: FileWork = { text };
    for (let isOver = false; !isOver; work = "next") {
      const part = await callOnce(call, work);
      for (const [what, { count, line }] of part.leftOut) leaveOut(what, line, count);
      yield* part.drafts;
      if (part.fault) throw new ImportError(part.fault.line, part.fault.reason);
      isOver = part.isOver;
    }
  },
};

/** A worker that was started again does not know the file. */
async function callOnce(call: WorkerCall<FileWork, FilePart>, work: FileWork): Promise<FilePart> {
  try {
    return await call(work);
  } catch (error) {
    if (!(error instanceof WorkerUnavailable)) throw error;
    throw new ImportError(1, "reading it takes too long; divide it");
  }
}

/** Waits until no other file is read. Disposing of the turn passes it on. */
async function takeTurn(): Promise<Disposable> {
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  void inTurn(() => {
    begun.resolve();
    return done.promise;
  });
  await begun.promise;
  return { [Symbol.dispose]: done.resolve };
}

function startWorker(): WorkerPort {
  return new Worker(new URL("./promptfoo_worker.ts", import.meta.url), COMPUTE_ONLY);
}
