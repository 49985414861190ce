const LOCK = new URL("../deno.lock", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** The packages that a test may start, by their names. */
const PACKAGES: Record<string, string> = {
  "@antv/mcp-server-chart": "npm:@antv/mcp-server-chart@0.9.10",
  "@modelcontextprotocol/server-filesystem":
    "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
  "@modelcontextprotocol/server-github": "npm:@modelcontextprotocol/server-github@2025.4.8",
  "@modelcontextprotocol/server-memory": "npm:@modelcontextprotocol/server-memory@2026.8.31",
  "@modelcontextprotocol/server-sequential-thinking":
    "npm:@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  "@notionhq/notion-mcp-server": "npm:@notionhq/notion-mcp-server@2.5.2",
  "@upstash/context7-mcp": "npm:@upstash/context7-mcp@4.1.1",
};

/**
 * Replaces npx: starts the named package, in the version of the tests' own lock and from Deno's
 * cache. Returns the path of the program, which is called `npx`.
 */
export async function writeNpx(folder: string): Promise<string> {
  await fetchPackages();
  const cases = Object.entries(PACKAGES).map(([name, specifier]) =>
    `${name}) package=${specifier} ;;`
  );
  const script = `#!/bin/sh
[ "$1" = "-y" ] && shift
case "$1" in
${cases.join("\n")}
*) echo "unknown package $1" >&2; exit 1 ;;
esac
shift
exec "${Deno.execPath()}" run -A --quiet --cached-only --lock "${LOCK}" --config "${CONFIG}" "$package" "$@"
`;
  const path = `${folder}/npx`;
  await Deno.writeTextFile(path, script, { mode: 0o755 });
  return path;
}

/** Ahead of the start of a server, which has a limit and not the tests' environment. */
async function fetchPackages(): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--lock", LOCK, "--config", CONFIG, ...Object.values(PACKAGES)],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Runs a server over HTTP for the time of a test. */
export function startServer(
  command: string,
  { args, env = {} }: { args: string[]; env?: Record<string, string> },
): AsyncDisposable {
  const child = new Deno.Command(command, {
    args,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}
