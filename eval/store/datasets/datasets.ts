import type { Scenario } from "../../schemas/scenario.ts";

/** One version of a named dataset, without its scenarios. */
export interface VersionRecord {
  name: string;
  /** See `digestBatch`. */
  version: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  scenarios: number;
  turns: number;
  /** Of its scenarios as JSON, one per line. */
  bytes: number;
}

/** A dataset and its latest version. */
interface DatasetEntry extends VersionRecord {
  versions: number;
  updatedAt: number;
}

/** A version that was written; `created` is false if it was there before. */
export interface SavedDataset extends VersionRecord {
  created: boolean;
}

/** Reads datasets. */
export interface DatasetReader {
  /** By name, those after `after`. */
  listDatasets(page: { after?: string | undefined; limit: number }): Promise<DatasetEntry[]>;
  /** Newest first; none if there is no such dataset. */
  datasetVersions(name: string, limit: number): Promise<VersionRecord[]>;
  /** The latest version; `undefined` if there is no such dataset. */
  latestVersion(name: string): Promise<VersionRecord | undefined>;
  /** The versions that begin with these characters; two at most: more are not needed to refuse. */
  findVersions(name: string, beginning: string): Promise<VersionRecord[]>;
  /**
   * The scenarios as JSON, one per line, in pieces of whole lines. Throws 404 `not_found` if the
   * version is deleted meanwhile.
   */
  scenarioLines(version: Pick<VersionRecord, "name" | "version">): AsyncIterable<string>;
}

/** Writes datasets, too. Several may write at once, also the same dataset. */
export interface DatasetStore extends DatasetReader {
  /**
   * Stores a version completely or not at all, and makes it the latest. The whole of it is never in
   * memory. If reading the scenarios throws, nothing is stored.
   */
  saveDataset(name: string, scenarios: AsyncIterable<Scenario>): Promise<SavedDataset>;
  /** Deletes a version, or all of them. False if there is none. */
  deleteDataset(name: string, version?: string): Promise<boolean>;
}
