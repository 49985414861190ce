/** The root of the repository. */
export const ROOT = new URL("../../", import.meta.url);
/** What the source is in. */
export const ROOMS = ["agent", "eval", "shared"] as const;

/** A file of the source; `path` begins at the root. */
export interface Source {
  path: string;
  text: string;
}

function* readSources(folder: string): Generator<Source> {
  for (const entry of Deno.readDirSync(new URL(folder, ROOT))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* readSources(path);
    else if (/(?<!\.d)\.tsx?$/.test(path)) {
      yield { path, text: Deno.readTextFileSync(new URL(path, ROOT)) };
    }
  }
}

/** All of it but declarations. */
export const sources = ROOMS.flatMap((room) => [...readSources(room)]);

/** The tests, with their fakes and benchmarks. */
export const readTests = () => [...readSources("tests")];

/** What a file imports, for its types too; files of the source as paths. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) =>
    match[1]!
  );
  return specifiers.map((specifier) =>
    specifier.startsWith(".")
      ? new URL(specifier, new URL(path, ROOT)).href.slice(ROOT.href.length)
      : specifier
  );
}
