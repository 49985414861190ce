/** Where the programs of `package.json` are, for the time of a test. */
export interface Programs extends AsyncDisposable {
  readonly folder: string;
  /** Why they could not be installed; empty if they are. */
  readonly failure: string;
}

/**
 * Installs the programs with npm, as the lock says: 220 MB, unless npm's cache has them. Deno cannot:
 * it would also resolve the optional dependencies of promptfoo, which take 1.6 GB. The lock is
 * without them: see CONTRIBUTING.
 */
export async function installPrograms(): Promise<Programs> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  for (const name of ["package.json", "package-lock.json"]) {
    await Deno.copyFile(new URL(name, import.meta.url), `${folder}/${name}`);
  }
  return {
    folder,
    failure: await install(folder),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function install(cwd: string): Promise<string> {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  try {
    const npm = new Deno.Command("npm", { args, cwd, stdin: "null", stdout: "null" });
    const { success, stderr } = await npm.output();
    return success ? "" : `npm ci: ${new TextDecoder().decode(stderr)}`;
  } catch (error) {
    return `npm ci: ${error instanceof Error ? error.message : error}`;
  }
}
