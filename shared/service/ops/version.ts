import denoJson from "../../../deno.json" with { type: "json" };

/** The commit that a binary was compiled from; `deno task compile` writes it into its copy. */
const COMMIT: string = "uncompiled";

/** The libraries whose versions matter in a bug report. */
const MAIN_LIBRARIES = [
  "@langchain/core",
  "@langchain/langgraph",
  "zod",
] as const;

/** What runs here. */
export interface Version {
  name: string;
  version: string;
  commit: string;
  deno: string;
  libraries: Record<string, string>;
}

export function describeVersion(name: string): Version {
  const imports: Record<string, string> = denoJson.imports;
  const versionOf = (library: string) => imports[library]?.split("@").at(-1) ?? "";
  return {
    name,
    version: denoJson.version,
    commit: COMMIT,
    deno: Deno.version.deno,
    libraries: Object.fromEntries(
      MAIN_LIBRARIES.map((library) => [library, versionOf(library)]),
    ),
  };
}
