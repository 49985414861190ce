import { functionName } from "../tools/names.ts";

/** No service has more; names beyond it are given anew each time. */
const MAX_NAMES = 10_000;

/**
 * Gives the tools of servers unique, valid function names. A tool keeps its name for as long as the
 * service runs, whichever servers are up: a conversation or a prompt may mention it. If the name is
 * taken by a built-in tool or by another server, the server's name stands in front.
 */
export function createToolNames(builtIn: string[]): (server: string, tool: string) => string {
  const given = new Map<string, string>();
  const taken = new Set(builtIn);

  return (server, tool) => {
    const key = JSON.stringify([server, tool]);
    const known = given.get(key);
    if (known) return known;
    const name = findFree(server, functionName(tool));
    if (given.size < MAX_NAMES) {
      given.set(key, name);
      taken.add(name);
    }
    return name;
  };

  function findFree(server: string, plain: string): string {
    if (!taken.has(plain)) return plain;
    const wanted = functionName(`${server}_${plain}`);
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted.slice(0, 58)}_${number}`;
    return free;
  }
}
