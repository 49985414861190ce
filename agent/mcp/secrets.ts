import type { McpServer } from "./config.ts";

/** Flags whose values are secret, such as `--api-key` and `--header`. */
const SECRET_FLAG = /^-+[\w-]*(key|token|secret|password|credential|auth|header)/i;

/**
 * What an entry says in confidence; a program may write it into its errors. Of arguments only the
 * values of such flags: paths and names of packages explain an error.
 */
export function secretsOf(server: McpServer): string[] {
  if (server.transport !== "stdio") return Object.values(server.headers);
  const values = Object.values(server.env).filter((value) => value !== null);
  return [...values, ...server.args.flatMap(secretsIn)];
}

/** Of `Authorization: Bearer …` also the key alone. */
function secretsIn(argument: string, index: number, all: string[]): string[] {
  const [, flag = all[index - 1] ?? "", value = argument] = /^(-[^=]+)=(.*)$/s.exec(argument) ?? [];
  if (!SECRET_FLAG.test(flag)) return [];
  return [value, value.slice(value.indexOf(":") + 1).trim(), value.split(/[\s:]+/).at(-1) ?? ""];
}
