import { AppError } from "../../../shared/service/errors.ts";
import type { Scenario } from "../scenario.ts";
import { findUnusableChecks } from "../../score/planned_checks.ts";
import type { ContentChecks } from "../../score/content_checks.ts";
import type { DatasetStore, SavedDataset } from "../../store/datasets.ts";
import { detectFormat, type FileHints } from "./detect.ts";
import { type DatasetFormat, type ImportContext, ImportError, ofFile } from "../formats/format.ts";
import { readBeginning } from "../formats/lines.ts";
import { type ImportedScenario, importScenarios, type SkippedPart } from "./import_scenarios.ts";

const MOST_SCENARIOS = 100_000;

interface Upload extends FileHints {
  pieces: AsyncIterable<string>;
  /** Detected if it is unset. */
  format?: DatasetFormat | undefined;
  hasReplies?: ImportContext["hasReplies"];
  /** Characters of a file whose format is read as a whole. Any number if it is unset. */
  mostWhole?: number;
}

/**
 * Stores a file that arrives in pieces as a dataset; the whole of it is never in memory, unless its
 * format needs that. Throws 400 `invalid_request`, which names the line, if the file is wrong.
 */
export async function uploadDataset(
  { store, checks }: { store: DatasetStore; checks: ContentChecks },
  name: string,
  upload: Upload,
): Promise<{ saved: SavedDataset; leftOut: SkippedPart[] }> {
  return await readUpload(checks, upload, async ({ scenarios, leftOut }) => {
    const saved = await store.saveDataset(name, scenarios);
    return { saved, leftOut: leftOut() };
  });
}

/** The most scenarios that a preview has. */
const MOST_PREVIEWED = 20;

/** What the same file would become. Throws as `uploadDataset` does. */
export async function previewDataset(checks: ContentChecks, upload: Upload) {
  return await readUpload(checks, upload, async ({ scenarios, leftOut, format }) => {
    const test_batch: Scenario[] = [];
    let count = 0;
    let turns = 0;
    for await (const scenario of scenarios) {
      if (++count <= MOST_PREVIEWED) test_batch.push(scenario);
      turns += scenario.interactions.length;
    }
    return { format, scenarios: count, turns, left_out: leftOut(), test_batch };
  });
}

async function readUpload<T>(
  checks: ContentChecks,
  { pieces, ...upload }: Upload,
  take: (
    file: { format: string; scenarios: AsyncIterable<Scenario>; leftOut: () => SkippedPart[] },
  ) => Promise<T>,
): Promise<T> {
  const { columns, hasReplies, mostWhole = Infinity } = upload;
  const { beginning, all } = await readBeginning(pieces);
  const format = upload.format ?? detectFormat(beginning, upload);
  const bounded = format.isWhole ? boundWhole(all, { format, mostWhole }) : all;
  const { scenarios, leftOut } = importScenarios(bounded, {
    format,
    columns,
    hasReplies,
  });
  try {
    const usable = bound(requireUsable(scenarios, checks));
    return await take({ format: format.name, scenarios: usable, leftOut });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    throw new AppError(
      400,
      "invalid_request",
      `cannot use the file (read as ${format.name}): ${error.message}`,
      { errors: [{ path: `line ${error.line}`, message: error.reason }] },
    );
  }
}

/**
 * Checks patterns and schemas now, not only at the first run. Whether there is a judge is not known
 * before a run starts.
 */
async function* requireUsable(
  scenarios: AsyncIterable<ImportedScenario>,
  checks: ContentChecks,
): AsyncGenerator<Scenario> {
  for await (const { line, file, scenario } of scenarios) {
    const pathOf = () => "";
    const [fault] = await findUnusableChecks([scenario], { checks, hasJudge: true, pathOf });
    if (fault) {
      throw ofFile(file, new ImportError(line, `${fault.path.slice(1)} ${fault.message}`));
    }
    yield scenario;
  }
}

/** Throws if there is no scenario, or if there are too many. */
async function* bound(scenarios: AsyncIterable<Scenario>): AsyncGenerator<Scenario> {
  let count = 0;
  for await (const scenario of scenarios) {
    if (++count > MOST_SCENARIOS) {
      throw new AppError(
        413,
        "body_too_large",
        `the file has more than ${MOST_SCENARIOS} scenarios; divide it into several datasets`,
      );
    }
    yield scenario;
  }
  if (count === 0) throw new ImportError(1, "it has no scenario");
}

async function* boundWhole(
  pieces: AsyncIterable<string>,
  { format, mostWhole }: { format: DatasetFormat; mostWhole: number },
): AsyncGenerator<string> {
  let characters = 0;
  for await (const piece of pieces) {
    characters += piece.length;
    if (characters > mostWhole) {
      throw new AppError(
        413,
        "body_too_large",
        `the file is larger than ${mostWhole} characters (MAX_BODY_BYTES), and the format ` +
          `${format.name} is read as a whole; jsonl is not`,
      );
    }
    yield piece;
  }
}
