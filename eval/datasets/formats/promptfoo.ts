import pLimit from "p-limit";
import {
  createWorkerCall,
  type WorkerCall,
  type WorkerPort,
  WorkerUnavailable,
} from "../../../shared/background/worker_call.ts";
import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import {
  type DatasetFormat,
  type Draft,
  type ImportContext,
  ImportError,
  ofFile,
} from "./format.ts";
import { readWhole } from "./lines.ts";
import { isTestTable } from "./promptfoo_table.ts";
import { readTable, type Row } from "./table.ts";

/**
 * What the worker is sent: a whole file, then the files that it wants, then `next` for each further
 * part of its tests. A table comes in groups of rows, each like a file of its own.
 */
export type FileWork = WholeFile | RowGroup | { files: OtherFiles } | "next";

export interface WholeFile {
  text: string;
  /** Whether other files that it names can be read. */
  hasFiles: boolean;
}

/** Some rows of a table, and how many are before them. */
export interface RowGroup {
  rows: Row[];
  before: number;
}

/** Further files by their names in the configuration: texts, and the rows of tables. */
export type OtherFiles = ReadonlyMap<string, string | Row[]>;

/** Some of the tests of a file. */
export interface FilePart {
  drafts: Draft[];
  /** What has no counterpart, how often it occurs, and in which line first. */
  leftOut: Map<string, { count: number; line: number }>;
  /** Set if the file cannot be read further. */
  fault?: { line: number; reason: string };
  /** Further files that the tests are in, before the first of them. */
  wanted?: string[];
  isOver: boolean;
}

/** Limit of one part; the largest accepted files take half of it for the first one. */
const TIMEOUT_MS = 60_000;

/** A file takes up to half a gigabyte while it is read, so they are read one after another. */
const inTurn = pLimit(1);

/** Rows of a table that the worker is sent at once; there may be ten thousand cells in each. */
const ROWS_AT_ONCE = 100;
/** Characters of a table that are read at once, and the rest of their last line. */
const CHARACTERS_AT_ONCE = 50_000;

/** JSON over several lines: a configuration, or its tests alone, with texts at most before that. */
const CONFIGURATION =
  /^(?:\{[^{}[\]]*"(?:prompts|tests|scenarios|providers|targets|defaultTest)"|\[\s*\{[^{}[\]]*"(?:vars|assert)")\s*:/;
const OURS = /"(?:interactions|test_batch)"\s*:/;

/** A configuration of promptfoo, or its list of tests alone. */
export const promptfoo: DatasetFormat = {
  name: "promptfoo",
  about:
    "a configuration of promptfoo in YAML or JSON: tests with vars and assert; or a table of them",
  isWhole: true,
  recognises: ({ name, start, first, isLine, columns, hasMapping }) => {
    if (/\.ya?ml$/i.test(name)) return true;
    if (columns || hasMapping) {
      return !hasMapping && !columns!.includes("user_message") &&
        isTestTable(start.split("\n", 1)[0]!);
    }
    if (start !== "" && !/^[[{]/.test(start)) return true;
    if (isLine && first) {
      return ["tests", "scenarios", "vars", "assert"].some((part) => part in first);
    }
    return CONFIGURATION.test(start) && !OURS.test(start);
  },
  async *read(pieces, { leaveOut, readFile }) {
    const text = await readWhole(pieces);
    using _turn = await takeTurn();
    using call = createWorkerCall<FileWork, FilePart>(startWorker, {
      name: "promptfoo",
      timeoutMs: TIMEOUT_MS,
    });
    const isTable = isTestTable(text.trimStart().split("\n", 1)[0]!);
    const whole = { text, hasFiles: readFile !== undefined };
    for await (const first of isTable ? groupRows(text) : [whole]) {
      let work: FileWork = first;
      for (let isOver = false; !isOver;) {
        const part = await callOnce(call, work);
        for (const [what, { count, line }] of part.leftOut) leaveOut(what, line, count);
        yield* part.drafts;
        if (part.fault) throw new ImportError(part.fault.line, part.fault.reason);
        isOver = part.isOver;
        work = part.wanted ? { files: await readFiles(part.wanted, readFile!) } : "next";
      }
    }
  },
};

/** As objects, all rows of a table take a hundred times the memory of its text. */
async function* groupRows(text: string): AsyncGenerator<RowGroup> {
  let rows: Row[] = [];
  let before = 0;
  for await (const row of readTable(ReadableStream.from(cutAtLines(text)))) {
    if (rows.push(row) < ROWS_AT_ONCE) continue;
    yield { rows, before };
    before += rows.length;
    rows = [];
  }
  if (rows.length > 0) yield { rows, before };
}

function* cutAtLines(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at + CHARACTERS_AT_ONCE) + 1 || text.length;
    yield text.slice(at, end);
    at = end;
  }
}

async function readFiles(
  names: string[],
  readFile: NonNullable<ImportContext["readFile"]>,
): Promise<OtherFiles> {
  const files = new Map<string, string | Row[]>();
  for (const name of names) {
    const text = await readFile(name.replace(/^file:\/\//, ""));
    files.set(name, /\.[ct]sv$/i.test(name) ? await readRows(text, name) : text);
  }
  return files;
}

async function readRows(text: string, name: string): Promise<Row[]> {
  try {
    return await Array.fromAsync(readTable(ReadableStream.from(cutAtLines(text))));
  } catch (error) {
    throw ofFile(name, error);
  }
}

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
