import { functionName } from "../tools/names.ts";

/** The tools of one server, by the server's own names for them. */
interface NamedList {
  server: string;
  tools: readonly string[];
}

/**
 * Unique, valid function names for the tools of servers, by the order of the lists. If a built-in
 * tool or one of an earlier list has the name, the server's name stands in front.
 */
export function nameTools(
  builtIn: readonly string[],
  lists: readonly NamedList[],
): (server: string, tool: string) => string {
  const taken = new Set(builtIn);
  const given = new Map<string, string>();
  for (const { server, tools } of lists) {
    for (const tool of tools) {
      const name = findFree(taken, { server, plain: functionName(tool) });
      taken.add(name);
      given.set(JSON.stringify([server, tool]), name);
    }
  }
  return (server, tool) => given.get(JSON.stringify([server, tool]))!;
}

function findFree(
  taken: ReadonlySet<string>,
  { server, plain }: { server: string; plain: string },
): string {
  if (!taken.has(plain)) return plain;
  const wanted = functionName(`${server}_${plain}`);
  let free = wanted;
  for (let number = 2; taken.has(free); number++) free = `${wanted.slice(0, 58)}_${number}`;
  return free;
}
