import { ROOT } from "./source_files.ts";

/** A package of npm, as a file names it. */
export interface Package {
  name: string;
  version: string;
}

/** The packages that a file names with their versions, as import specifiers do. */
export function readPackages(file: URL): Package[] {
  const specifiers = Deno.readTextFileSync(file).matchAll(/"npm:\/?(@?[^@"]+)@([\d^][^/"]*)/g);
  return [...specifiers].map(([, name, version]) => ({ name: name!, version: version! }));
}

/** The packages that only tests and scripts use. */
export function packagesOfTests(): Package[] {
  return [...listScripts("tests"), ...listScripts(".ci")].flatMap(readPackages);
}

function* listScripts(folder: string): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(`${folder}/`, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* listScripts(path);
    else if (/\.tsx?$/.test(name)) yield new URL(path, ROOT);
  }
}
