/** Files of promptfoo, in a thread of their own: reading YAML takes long, and may take longer. */
import process from "node:process";
import { serveCalls } from "../../../shared/background/serve_calls.ts";
import { stoppable } from "../../../shared/background/stoppable.ts";
import { ImportError } from "./format.ts";
import type { FilePart, FileWork } from "./promptfoo.ts";
import { type OpenedFile, openPromptfoo, readPromptfoo } from "./promptfoo_file.ts";
import { listFiles } from "./promptfoo_files.ts";

/** Tests that are handed over at once, and their characters as JSON. */
const TESTS_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 1_000_000;

/** The package for YAML asks for variables of its own, and this thread may not read any. */
Object.defineProperty(process, "env", { value: {} });

let opened: OpenedFile | undefined;
let drafts: ReturnType<typeof readPromptfoo> | undefined;
let leftOut: FilePart["leftOut"] = new Map();

serveCalls(stoppable(readPart));

/** The first tests of a file, if all of its files are there, or with `next` those after them. */
function readPart(work: FileWork): FilePart {
  const part: FilePart = { drafts: [], leftOut, isOver: false };
  try {
    if (work !== "next") {
      if (!("files" in work)) {
        opened = openPromptfoo(work);
        const wanted = opened.hasFiles ? listFiles(opened.config) : [];
        if (wanted.length > 0) return { ...part, wanted };
      }
      drafts = readPromptfoo(opened!, {
        files: "files" in work ? work.files : new Map(),
        leaveOut,
      });
    }
    for (let characters = 0; characters < CHARACTERS_AT_ONCE;) {
      if (part.drafts.length === TESTS_AT_ONCE) break;
      const { done, value } = drafts!.next();
      part.isOver = done === true;
      if (done) break;
      part.drafts.push(value);
      characters += JSON.stringify(value).length;
    }
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    part.fault = { line: error.line, reason: error.reason };
  }
  leftOut = new Map();
  return part;
}

function leaveOut(what: string, line: number): void {
  const known = leftOut.get(what);
  if (known) known.count++;
  else leftOut.set(what, { count: 1, line });
}
