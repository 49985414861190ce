import { type Kysely, sql, type Transaction } from "kysely";
import { notFound } from "../../shared/service/errors.ts";
import type { Scenario } from "../test/scenario.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import { createBatchDigest, createRunIds, momentOf } from "./run_record.ts";
import type { DatasetVersionsTable, Tables } from "./schema/schema.ts";

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
  tags: string[];
}

/** Positions of scenarios that a training file has. */
export interface FoundLeaks {
  word_for_word: number[];
  near: number[];
}

/** A training file that a version was compared with. */
export interface LeakCheckRecord {
  digest: string;
  /** Its name; empty if it is not known. */
  file: string;
  rows: number;
  /** Milliseconds since 1970. */
  checkedAt: number;
  found: FoundLeaks;
}

/** A version that was written; `created` is false if it was there before. */
export interface SavedDataset extends VersionRecord {
  created: boolean;
}

export type DatasetReader = ReturnType<typeof createDatasetReader>;
export type DatasetStore = ReturnType<typeof createDatasetStore>;

/** A part is stored once it has this many characters; a larger scenario is a part of its own. */
const PART_CHARACTERS = 128 * 1024;
/** No upload takes longer. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** Queries that SQLite and PostgreSQL both understand. */
export function createDatasetReader(db: Kysely<Tables>) {
  return {
    /** By name, those after `after`. */
    async listDatasets(
      { after = "", limit }: { after?: string | undefined; limit: number },
    ): Promise<DatasetEntry[]> {
      const rows = await db.selectFrom("datasets")
        .innerJoin(
          "dataset_versions as latest",
          (join) =>
            join.onRef("latest.name", "=", "datasets.name")
              .onRef("latest.version", "=", "datasets.latest"),
        )
        .selectAll("latest")
        .select(["datasets.updated_at", "datasets.tags"])
        .select(({ selectFrom }) =>
          selectFrom("dataset_versions as all").whereRef("all.name", "=", "datasets.name")
            .select(({ fn }) => fn.countAll().as("count")).as("versions")
        )
        .where("datasets.name", ">", after)
        .orderBy("datasets.name")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        ...toVersion(row),
        versions: Number(row.versions),
        updatedAt: Number(row.updated_at),
        tags: JSON.parse(row.tags),
      }));
    },

    /** None if there is no such dataset. */
    async datasetTags(name: string): Promise<string[]> {
      const row = await db.selectFrom("datasets").select("tags").where("name", "=", name)
        .executeTakeFirst();
      return row ? JSON.parse(row.tags) : [];
    },

    /** Newest first; none if there is no such dataset. */
    async datasetVersions(name: string, limit: number): Promise<VersionRecord[]> {
      const rows = await db.selectFrom("dataset_versions").selectAll().where("name", "=", name)
        .orderBy("content_id", "desc").limit(limit).execute();
      return rows.map(toVersion);
    },

    /** `undefined` if there is no such dataset. */
    async latestVersion(name: string): Promise<VersionRecord | undefined> {
      const row = await db.selectFrom("dataset_versions")
        .innerJoin("datasets", (join) =>
          join.onRef("datasets.name", "=", "dataset_versions.name")
            .onRef("datasets.latest", "=", "dataset_versions.version"))
        .selectAll("dataset_versions")
        .where("datasets.name", "=", name)
        .executeTakeFirst();
      return row && toVersion(row);
    },

    /** The training files that a version was compared with, the last one first. */
    async leakChecks(version: string): Promise<LeakCheckRecord[]> {
      const rows = await db.selectFrom("leak_checks").selectAll().where("version", "=", version)
        .orderBy("checked_at", "desc").orderBy("digest").execute();
      return rows.map((row) => ({
        digest: row.digest,
        file: row.file,
        rows: row.line_count,
        checkedAt: Number(row.checked_at),
        found: JSON.parse(row.found),
      }));
    },

    /** The versions that begin with these characters; two at most: more are not needed to refuse. */
    async findVersions(name: string, beginning: string): Promise<VersionRecord[]> {
      const rows = await db.selectFrom("dataset_versions").selectAll().where("name", "=", name)
        .where(sql<string>`substr(version, 1, ${sql.lit(beginning.length)})`, "=", beginning)
        .limit(2).execute();
      return rows.map(toVersion);
    },

    /**
     * The scenarios as JSON, one per line, in pieces of whole lines. Throws 404 `not_found` if the
     * version is deleted meanwhile.
     */
    async *scenarioLines(
      { name, version }: Pick<VersionRecord, "name" | "version">,
    ): AsyncIterable<string> {
      const row = await db.selectFrom("dataset_versions").select(["content_id", "bytes"])
        .where("name", "=", name).where("version", "=", version).executeTakeFirst();
      let left = Number(row?.bytes ?? 1);
      for (let position = 0; row && left > 0; position++) {
        const part = await db.selectFrom("dataset_parts")
          .select(["lines", sql<number>`octet_length(lines)`.as("bytes")])
          .where("content_id", "=", row.content_id).where("position", "=", position)
          .executeTakeFirst();
        if (!part) break;
        yield part.lines;
        left -= Number(part.bytes);
      }
      if (left > 0) throw notFound(`cannot read ${name}@${version}: it was deleted`);
    },
  };
}

/** Writes datasets, too. Several may write at once, also the same dataset. */
export function createDatasetStore(db: Kysely<Tables>, { now }: { now: () => number }) {
  /** By the clock alone: `deleteAbandonedParts` reads the age of parts from their id. */
  const newContentId = createRunIds(now);

  async function insertParts(content_id: string, scenarios: AsyncIterable<Scenario>) {
    const counts = { scenarios: 0, turns: 0, bytes: 0 };
    const digest = createBatchDigest();
    const yieldIfDue = createYielder();
    let position = 0;
    let lines = "";
    async function flush(): Promise<void> {
      if (lines === "") return;
      counts.bytes += new TextEncoder().encode(lines).length;
      await db.insertInto("dataset_parts").values({ content_id, position, lines }).execute();
      position++;
      lines = "";
    }
    for await (const scenario of scenarios) {
      const text = JSON.stringify(scenario);
      digest.add(text);
      counts.scenarios++;
      counts.turns += scenario.interactions.length;
      if (lines.length + text.length > PART_CHARACTERS) await flush();
      lines += `${text}\n`;
      await yieldIfDue();
    }
    await flush();
    return { ...counts, version: digest.end() };
  }

  /**
   * Names the stored parts. Returns the version as it is stored, which may be an earlier upload of the
   * same content; one that has lost its parts gets the new ones.
   */
  async function addVersion(
    transaction: Transaction<Tables>,
    row: DatasetVersionsTable,
  ): Promise<DatasetVersionsTable> {
    const { name, version, created_at: updated_at } = row;
    // First, because it locks the name: others that write or delete it wait.
    await transaction.insertInto("datasets")
      .values({ name, latest: version, updated_at, tags: "[]" })
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet({ latest: version, updated_at })
          .where("datasets.latest", "!=", version)
      ).execute();
    await transaction.insertInto("dataset_versions").values(row)
      .onConflict((conflict) => conflict.columns(["name", "version"]).doNothing())
      .execute();
    const stored = await transaction.selectFrom("dataset_versions").selectAll()
      .where("name", "=", name).where("version", "=", version)
      .executeTakeFirstOrThrow();
    if (Number(stored.bytes) === 0 || await hasParts(transaction, stored.content_id)) return stored;
    const { content_id, created_at } = row;
    await transaction.updateTable("dataset_versions").set({ content_id, created_at })
      .where("name", "=", name).where("version", "=", version).execute();
    return row;
  }

  return {
    ...createDatasetReader(db),

    /**
     * Stores a version completely or not at all, and makes it the latest. The whole of it is never in
     * memory. If reading the scenarios throws, nothing is stored.
     */
    async saveDataset(name: string, scenarios: AsyncIterable<Scenario>): Promise<SavedDataset> {
      const content_id = newContentId();
      let created = false;
      try {
        const content = await insertParts(content_id, scenarios);
        const row = { name, content_id, created_at: now(), ...content };
        const stored = await db.transaction().execute((change) => addVersion(change, row));
        created = stored.content_id === content_id;
        return { ...toVersion(stored), created };
      } finally {
        // If this fails, a later start deletes them.
        if (!created) await deleteUnnamedParts(db, content_id).catch(() => {});
      }
    },

    /** Remembers what a version was compared with. The same file again replaces what was found. */
    async saveLeakCheck(
      version: string,
      { digest, file, rows, found }: Omit<LeakCheckRecord, "checkedAt">,
    ): Promise<void> {
      const check = {
        file,
        line_count: rows,
        checked_at: now(),
        found: JSON.stringify(found),
      };
      await db.insertInto("leak_checks").values({ version, digest, ...check })
        .onConflict((conflict) => conflict.columns(["version", "digest"]).doUpdateSet(check))
        .execute();
    },

    /** Gives a dataset exactly these tags. False if there is no such dataset. */
    async tagDataset(name: string, tags: string[]): Promise<boolean> {
      const { numUpdatedRows } = await db.updateTable("datasets")
        .set({ tags: JSON.stringify(tags) }).where("name", "=", name).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** Deletes a version, or all of them. False if there is none. */
    deleteDataset: (name: string, version?: string): Promise<boolean> =>
      db.transaction().execute(async (transaction) => {
        // Locks the name, as `addVersion` does.
        await transaction.updateTable("datasets").set({ updated_at: now() })
          .where("name", "=", name).execute();
        const deleted = await transaction.deleteFrom("dataset_versions").where("name", "=", name)
          .$if(version !== undefined, (query) => query.where("version", "=", version!))
          .returning("content_id").execute();
        await deleteParts(transaction, deleted.map(({ content_id }) => content_id));
        await transaction.deleteFrom("leak_checks").where(
          "version",
          "not in",
          (query) => query.selectFrom("dataset_versions").select("version"),
        ).execute();
        await renewLatest(transaction, name);
        return deleted.length > 0;
      }),
  };
}

/** After versions were deleted: the newest one that is left is the latest, unless it still is. */
async function renewLatest(transaction: Transaction<Tables>, name: string): Promise<void> {
  const left = await transaction.selectFrom("dataset_versions").select("version")
    .where("name", "=", name).orderBy("content_id", "desc").limit(1).executeTakeFirst();
  if (!left) {
    await transaction.deleteFrom("datasets").where("name", "=", name).execute();
    return;
  }
  await transaction.updateTable("datasets").set({ latest: left.version })
    .where("name", "=", name)
    .where(
      "latest",
      "not in",
      (query) => query.selectFrom("dataset_versions").select("version").where("name", "=", name),
    )
    .execute();
}

async function deleteParts(db: Kysely<Tables>, contentIds: string[]): Promise<void> {
  if (contentIds.length === 0) return;
  await db.deleteFrom("dataset_parts").where("content_id", "in", contentIds).execute();
}

/** Deletes parts that no version uses: a commit without a confirmation may have taken effect. */
async function deleteUnnamedParts(db: Kysely<Tables>, contentId: string): Promise<void> {
  await db.deleteFrom("dataset_parts").where("content_id", "=", contentId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(
        selectFrom("dataset_versions").select("version").where("content_id", "=", contentId),
      ))
    )
    .execute();
}

async function hasParts(db: Kysely<Tables>, contentId: string): Promise<boolean> {
  const part = await db.selectFrom("dataset_parts").select("position")
    .where("content_id", "=", contentId).limit(1).executeTakeFirst();
  return part !== undefined;
}

/** Deletes the parts of uploads whose process ended before the upload did. */
export async function deleteAbandonedParts(db: Kysely<Tables>, now: () => number): Promise<void> {
  const rows = await db.selectFrom("dataset_parts").select("content_id")
    .where("position", "=", 0)
    .where(
      "content_id",
      "not in",
      (query) => query.selectFrom("dataset_versions").select("content_id"),
    )
    .execute();
  const abandoned = rows.map(({ content_id }) => content_id)
    .filter((id) => momentOf(id) < now() - ABANDONED_AFTER_MS);
  await deleteParts(db, abandoned);
}

function toVersion(row: Omit<DatasetVersionsTable, "content_id">): VersionRecord {
  return {
    name: row.name,
    version: row.version,
    createdAt: Number(row.created_at),
    scenarios: row.scenarios,
    turns: row.turns,
    bytes: Number(row.bytes),
  };
}
