import { asFields, asList, type Fields } from "../../../shared/service/fields.ts";

/** A test conversation as a file has it, before it is validated. */
export interface Draft {
  /** Where it begins in the file, counted from 1. */
  line: number;
  /** That file, if it is another one that the file names. */
  file?: string | undefined;
  scenario: unknown;
}

/** Which columns of a table hold what. Columns that are not named here have our own names. */
export interface ColumnMapping {
  user_message?: string;
  reference_reply?: string;
  system_prompt?: string;
  /** Rows with the same value are the turns of one conversation; they follow each other. */
  scenario_id?: string;
  /** Names of labels in `reference_metadata`, and the columns that hold them. */
  metadata?: Record<string, string>;
}

export interface ImportContext {
  columns: ColumnMapping;
  /**
   * Reports something that has no counterpart here, and how often it occurs, once by default; it does
   * not end the import.
   */
  leaveOut(what: string, line: number, count?: number): void;
  /** Whether what a model said is the reply that is to be scored, and no reference. */
  hasReplies?: boolean | undefined;
  /** Reads another file that this one names; unset where files may not be read. */
  readFile?: ((path: string) => Promise<string>) | undefined;
}

/** What other tools call the question of a test, the likeliest first. */
export const QUESTIONS = [
  "question",
  "input",
  "query",
  "prompt",
  "message",
  "user_message",
  "text",
];

/** What is known of a file before it is read. */
interface FileBeginning {
  /** The file's name; its extension counts. Empty if it is unknown. */
  name: string;
  /** A few thousand characters, without blanks before them. */
  start: string;
  /** The JSON object that its first line is, or the first object of its JSON array. */
  first: Fields | undefined;
  /** Whether `first` is a line of its own. */
  isLine: boolean;
  /** The columns, if the file is or may be a table. */
  columns: string[] | undefined;
  /** Whether the caller names columns. */
  hasMapping: boolean;
}

/** A kind of file that test conversations are read from. */
export interface DatasetFormat {
  name: string;
  /** What such a file holds, as `run --help` says it. */
  about: string;
  /** Whether a file is of this format. Of several the last one in `FORMATS` reads it. */
  recognises(file: FileBeginning): boolean;
  /** Set if it holds our own scenarios, which are kept as they are. */
  isOwn?: true;
  /** Set if a file is read as a whole, because its format cannot be read in parts. */
  isWhole?: true;
  /** Throws `ImportError` at the first thing that cannot be understood. */
  read(pieces: AsyncIterable<string>, context: ImportContext): AsyncIterable<Draft>;
}

/** The draft with a reply to its last turn, and the number of the attempt that it is. */
export function withReply(draft: Draft, reply: string, attempt_id?: unknown): Draft {
  const scenario = asFields(draft.scenario);
  const interactions = asList(scenario.interactions);
  const last = { ...asFields(interactions.at(-1)), agent_reply: reply };
  const attempt = Number.isInteger(attempt_id) ? { attempt_id } : {};
  return {
    ...draft,
    scenario: { ...scenario, ...attempt, interactions: [...interactions.slice(0, -1), last] },
  };
}

/** A file that cannot be imported. The message names the line. */
export class ImportError extends Error {
  override readonly name = "ImportError";
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
  }
}

/** Adds the name of `file`, if it is set, to an `ImportError`; other errors stay as they are. */
export function ofFile(file: string | undefined, error: unknown): unknown {
  return file === undefined || !(error instanceof ImportError)
    ? error
    : new ImportError(error.line, `${file}: ${error.reason}`);
}

/** Whether a JSON object is one of our scenarios, or a request with some. */
export function isOurs(value: Fields): boolean {
  return "interactions" in value || "test_batch" in value;
}
