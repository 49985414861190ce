import { AppError } from "../../shared/errors.ts";
import { digestBatch } from "../../eval/store/runs/batch_digest.ts";
import type {
  DatasetEntry,
  DatasetStore,
  VersionRecord,
} from "../../eval/store/datasets/datasets.ts";

interface Stored extends VersionRecord {
  lines: string;
}

/** The datasets of a store of plain maps. */
export function memoryDatasets(now: () => number): DatasetStore {
  /** Versions in the order of writing, and which is the latest. */
  const datasets = new Map<string, { latest: string; updatedAt: number; versions: Stored[] }>();
  const plain = ({ lines: _, ...version }: Stored): VersionRecord => version;
  const versionsOf = (name: string) => datasets.get(name)?.versions ?? [];
  const latestOf = (name: string) =>
    versionsOf(name).find(({ version }) => version === datasets.get(name)!.latest);

  return {
    listDatasets({ after = "", limit }) {
      const names = [...datasets.keys()].filter((name) => name > after).sort().slice(0, limit);
      return Promise.resolve(names.map((name): DatasetEntry => ({
        ...plain(latestOf(name)!),
        versions: versionsOf(name).length,
        updatedAt: datasets.get(name)!.updatedAt,
      })));
    },
    datasetVersions: (name, limit) =>
      Promise.resolve(versionsOf(name).toReversed().slice(0, limit).map(plain)),
    latestVersion(name) {
      const latest = latestOf(name);
      return Promise.resolve(latest && plain(latest));
    },
    findVersions: (name, beginning) =>
      Promise.resolve(
        versionsOf(name).filter(({ version }) => version.startsWith(beginning)).slice(0, 2)
          .map(plain),
      ),
    async *scenarioLines({ name, version }) {
      const found = versionsOf(name).find((stored) => stored.version === version);
      if (!found) throw new AppError(404, "not_found", `cannot read ${name}@${version}`);
      yield found.lines;
    },
    async saveDataset(name, scenarios) {
      const batch = await Array.fromAsync(scenarios);
      const version = await digestBatch(batch);
      const lines = batch.map((scenario) => `${JSON.stringify(scenario)}\n`).join("");
      const written: Stored = {
        name,
        version,
        createdAt: now(),
        scenarios: batch.length,
        turns: batch.reduce((turns, { interactions }) => turns + interactions.length, 0),
        bytes: new TextEncoder().encode(lines).length,
        lines,
      };
      const known = datasets.get(name);
      const before = known?.versions.find((stored) => stored.version === version);
      datasets.set(name, {
        latest: version,
        updatedAt: known?.latest === version ? known.updatedAt : now(),
        versions: [...known?.versions ?? [], ...(before ? [] : [written])],
      });
      return { ...plain(before ?? written), created: before === undefined };
    },
    deleteDataset(name, version) {
      const known = datasets.get(name);
      if (!known) return Promise.resolve(false);
      const versions = version === undefined
        ? []
        : known.versions.filter((stored) => stored.version !== version);
      const isLatestLeft = versions.some((stored) => stored.version === known.latest);
      const latest = isLatestLeft ? known.latest : versions.at(-1)?.version;
      if (latest === undefined) datasets.delete(name);
      else datasets.set(name, { ...known, latest, versions, updatedAt: now() });
      return Promise.resolve(versions.length < known.versions.length);
    },
  };
}
