import { UsageError } from "../command.ts";

/** What of the options of an export is asked for. */
interface Wanted {
  /** The names of the formats that are written. */
  formats: string[];
  isGroup: boolean;
  rows: "turns" | "scores";
  hasRows: boolean;
  hasNoise: boolean;
  hasThreshold: boolean;
}

/** Throws `UsageError` for an option that none of the formats uses: it would be ignored. */
export function requireUsed({ formats, isGroup, rows, ...wanted }: Wanted): void {
  const require = (isWanted: boolean, option: string, of: { run: string[]; group: string[] }) => {
    const users = isGroup ? of.group : of.run;
    if (!isWanted || formats.some((format) => users.includes(format))) return;
    const what = isGroup && of.group.length === 0 ? "the runs of a group, one by one" : users
      .join(", ").replace(/, ([^,]*)$/, " and $1");
    throw new UsageError(`${option} is for ${what}`);
  };
  require(wanted.hasRows, "--rows", { run: ["csv", "jsonl"], group: [] });
  require(wanted.hasNoise, rows === "scores" ? "--noise" : "--noise with rows of turns", {
    run: ["json", "markdown", "html", ...(rows === "scores" ? ["csv", "jsonl"] : [])],
    group: [],
  });
  require(wanted.hasThreshold, "--threshold", {
    run: ["junit", "markdown", "html"],
    group: ["junit"],
  });
}
