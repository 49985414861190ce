import { HELD_OUT } from "../../test/datasets.ts";
import type { Scenario } from "../../test/scenario.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import { createYielder } from "../../../shared/service/waiting.ts";

/** More datasets and versions than these are not kept in one store. */
const MOST = 100_000;

/** A key of each turn: what the user has said until then. */
export function conversationKeys({ interactions }: Pick<Scenario, "interactions">): string[] {
  let said = "";
  return interactions.map(({ user_message }) =>
    said += `${user_message.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim()}\n`
  );
}

/**
 * Which turns of some runs are tests: those of the latest version of each dataset, and of every
 * version of one that is held out.
 */
export async function findTests(reader: RunReader, runs: StoredRun[]) {
  const asked = new Set(
    runs.flatMap(({ request }) => request.test_batch.flatMap((one) => conversationKeys(one))),
  );
  const tests = new Map<string, Set<string>>();
  const heldOut = new Set<string>();
  const pause = createYielder();
  for (const dataset of await reader.listDatasets({ limit: MOST })) {
    const isHeldOut = dataset.tags.includes(HELD_OUT);
    if (isHeldOut) heldOut.add(dataset.name);
    const versions = isHeldOut ? await reader.datasetVersions(dataset.name, MOST) : [dataset];
    for (const version of versions) {
      for await (const lines of reader.scenarioLines(version)) {
        for (const line of lines.trimEnd().split("\n")) {
          for (const key of conversationKeys(JSON.parse(line))) {
            if (asked.has(key)) tests.getOrInsertComputed(key, () => new Set()).add(dataset.name);
          }
        }
        await pause();
      }
    }
  }
  return {
    /** Why a turn of a run of `own` must not be trained on; `undefined` if it may. */
    whyNot(key: string, own: string | null): string | undefined {
      const names = tests.get(key);
      if (!names) return undefined;
      if ([...names].some((name) => heldOut.has(name))) return "held_out";
      return [...names].some((name) => name !== own) ? "tests_of_another_dataset" : undefined;
    },
  };
}
