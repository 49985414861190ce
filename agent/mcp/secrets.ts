import { createRedactor, secretsInAddress } from "../../shared/redaction.ts";
import type { McpServer } from "./config.ts";

/** Flags whose values are secret, such as `--api-key` and `--header`. */
const SECRET_FLAG = /^-+[\w-]*(key|token|secret|password|credential|auth|header)/i;

/**
 * Removes the secrets of an entry from a text of its server, and with `redact` those of the service.
 */
export function createServerRedactor(
  server: McpServer,
  redact: (text: string) => string = String,
): (text: string) => string {
  const redactOwn = createRedactor(secretsOf(server));
  return (text) => redactOwn(redact(text));
}

/**
 * What an entry says in confidence; a server may write it into its errors. Of arguments only the
 * values of such flags: paths and names of packages explain an error.
 */
export function secretsOf(server: McpServer): string[] {
  if (server.transport !== "stdio") {
    return [...Object.values(server.headers).flatMap(withKey), ...secretsInAddress(server.url)];
  }
  const values = Object.values(server.env).filter((value) => value !== null);
  return [...values, ...server.args.flatMap(secretsIn)];
}

/** Of `Bearer …` also the key alone. */
function withKey(value: string): string[] {
  return [value, value.split(/[\s:]+/).at(-1) ?? ""];
}

function secretsIn(argument: string, index: number, all: string[]): string[] {
  const [, flag = all[index - 1] ?? "", value = argument] = /^(-[^=]+)=(.*)$/s.exec(argument) ?? [];
  if (!SECRET_FLAG.test(flag)) return [];
  return [value.slice(value.indexOf(":") + 1).trim(), ...withKey(value)];
}
