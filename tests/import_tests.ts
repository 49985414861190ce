/**
 * Imports the test files of folders below `tests/`, so that one isolate runs them all. Deno gives
 * each file that it is told of an isolate, which loads and compiles everything anew: for most of our
 * files that takes longer than their tests.
 */
export async function importTests(...folders: string[]): Promise<void> {
  for (const folder of folders) {
    for (const url of listTests(new URL(`${folder}/`, import.meta.url))) await import(url);
  }
}

function* listTests(folder: URL): Generator<string> {
  const entries = [...Deno.readDirSync(folder)].toSorted((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* listTests(new URL(`${name}/`, folder));
    else if (/_test\.tsx?$/.test(name)) yield new URL(name, folder).href;
  }
}
