import { listFieldErrors } from "../../../shared/service/field_errors.ts";
import { Scenario } from "../scenario.ts";
import {
  type ColumnMapping,
  type DatasetFormat,
  type ImportContext,
  ImportError,
  ofFile,
} from "../formats/format.ts";

/** Something in a file that has no counterpart, and how often it occurs. */
export interface SkippedPart {
  what: string;
  count: number;
  /** The first line that has it. */
  line: number;
}

/** The most kinds of things that a report lists. */
const MOST_KINDS = 100;

/** A scenario of a file, and the line where it begins. */
export interface ImportedScenario {
  line: number;
  /** That file, if it is another one that the file names. */
  file: string | undefined;
  scenario: Scenario;
}

/** Reads the scenarios of a file one after another: the whole of them is never in memory. */
export function importScenarios(
  pieces: AsyncIterable<string>,
  { format, columns = {}, readFile, hasReplies }: Pick<ImportContext, "readFile" | "hasReplies"> & {
    format: DatasetFormat;
    columns?: ColumnMapping | undefined;
  },
) {
  const left = new Map<string, SkippedPart>();

  function leaveOut(what: string, line: number, count = 1): void {
    const known = left.get(what);
    if (known) known.count += count;
    else if (left.size < MOST_KINDS) left.set(what, { what, count, line });
  }

  async function* read(): AsyncGenerator<ImportedScenario> {
    const drafts = format.read(pieces, { columns, leaveOut, readFile, hasReplies });
    for await (const { line, file, scenario } of drafts) {
      const result = Scenario.safeParse(scenario);
      if (!result.success) {
        throw ofFile(file, new ImportError(line, describe(result.error, scenario)));
      }
      const asked = format.isOwn ? result.data : withoutEmpty(result.data, line);
      if (asked.interactions.length > 0) yield { line, file, scenario: asked };
    }
  }

  /** Removes empty questions: tables of other tools often end with empty rows. */
  function withoutEmpty(scenario: Scenario, line: number): Scenario {
    const asked = scenario.interactions.filter(({ user_message }) => user_message.trim() !== "");
    const empty = scenario.interactions.length - asked.length;
    if (empty === 0) return scenario;
    leaveOut("rows without a question", line, empty);
    return { ...scenario, interactions: asked };
  }

  return {
    /** May be read once. Throws `ImportError` at the first scenario that is wrong. */
    scenarios: read(),
    /** What was left out so far, the most frequent first. */
    leftOut: (): SkippedPart[] => [...left.values()].sort((a, b) => b.count - a.count),
  };
}

function describe(...checked: Parameters<typeof listFieldErrors>): string {
  const [first] = listFieldErrors(...checked);
  return `${first!.path || "the scenario"}: ${first!.message}`;
}
