import type { Detail } from "../results/detail.ts";
import type { GroupReport } from "../groups/group_report.ts";
import type { ExportSource } from "./format.ts";

/** One way to write a group down. */
export interface GroupFormat {
  readonly name: string;
  /** Of a file in this format, without the dot. */
  readonly extension: string;
  readonly contentType: string;
  write(source: GroupSource): AsyncIterable<string>;
}

/** A group whose runs have ended. */
export interface GroupSource {
  report: GroupReport;
  /** Its runs, for formats that list their turns. */
  runs: () => Promise<ExportSource[]>;
  /** Whether a CSV file begins with a byte order mark; if unset, it does. */
  hasBom?: boolean;
  /** How much a JSON file says of each average. */
  detail?: Detail;
}
