import { AppError } from "../../shared/service/errors.ts";
import { createLocalEmbedder } from "../score/local_encoder.ts";
import type { Embedder } from "../score/scoring_ports.ts";
import { loadScenarios } from "../test/datasets/find_version.ts";
import type { LeakCheck, LeakReport } from "../test/leaks.ts";
import type { DatasetStore, LeakCheckRecord, VersionRecord } from "../store/datasets.ts";
import { findLeaks } from "./leaks/find_leaks.ts";
import { readTrainingTexts } from "./leaks/training_texts.ts";

/** More would take minutes, and hundreds of megabytes. */
const MOST_SCENARIOS = 5_000;

/**
 * Compares a version of a dataset with a training file, and remembers that. Nothing leaves the
 * machine: an encoder at another address is not asked. Throws 400 `invalid_request` if the file
 * cannot be used, or if the version has too many scenarios.
 */
export async function checkLeaks(
  store: DatasetStore,
  version: VersionRecord,
  { pieces, file, embedder, signal }: {
    pieces: AsyncIterable<string>;
    file: string;
    /** The built-in one is used in its place if it is another one. */
    embedder: Embedder;
    signal: AbortSignal;
  },
): Promise<LeakReport> {
  if (version.scenarios > MOST_SCENARIOS) {
    throw new AppError(
      400,
      "invalid_request",
      `cannot check ${version.scenarios} scenarios: at most ${MOST_SCENARIOS} are checked at once; ` +
        "divide the dataset",
    );
  }
  const training = readTrainingTexts(pieces);
  const scenarios = await loadScenarios(store, version);
  using own = embedder.compare ? undefined : createLocalEmbedder();
  const found = await findLeaks(scenarios, training.texts, { embedder: own ?? embedder, signal });
  const positions = (verdict: string) =>
    found.filter((one) => one.verdict === verdict).map(({ scenario }) => scenario);
  await store.saveLeakCheck(version.version, {
    ...training.described(),
    file,
    found: { word_for_word: positions("word_for_word"), near: positions("near") },
  });
  const { digest } = training.described();
  const [check] = (await store.leakChecks(version.version)).filter((one) => one.digest === digest);
  return { name: version.name, ...viewCheck(version.version, check!), scenarios: found };
}

/** A check in answers. */
export function viewCheck(
  version: string,
  { digest, file, rows, checkedAt, found }: LeakCheckRecord,
): LeakCheck {
  return {
    version,
    digest,
    file,
    rows,
    checked_at: new Date(checkedAt).toISOString(),
    word_for_word: found.word_for_word.length,
    near: found.near.length,
  };
}
