import type { z } from "zod";

/**
 * Names the variables that have no effect: the key and the model of a service (`JUDGE_API_KEY`,
 * `JUDGE_MODEL`) without its address (`JUDGE_BASE_URL`). That is allowed, as a way to switch the
 * service off, but easily a mistake.
 */
export function explainIdleVariables(
  schema: z.ZodObject,
  config: Readonly<Record<string, unknown>>,
): string[] {
  const unset = Object.keys(schema.shape).filter((name) =>
    name.endsWith("_BASE_URL") && config[name] === undefined
  );
  return unset.flatMap((address) =>
    ["_API_KEY", "_MODEL"].map((ending) => address.replace("_BASE_URL", ending))
      .filter((name) => config[name] !== undefined)
      .map((name) => `${name} has no effect: ${address} is not set`)
  );
}

/** A value that is one text in quotes, as `docker --env-file` and some unit files pass it on. */
const QUOTED = /^(?:"[^"]*"|'[^']*')$/;

/**
 * Names the variables whose values include quotes. A shell, systemd and `.env` remove them; otherwise
 * a key is wrong, and a path names another folder.
 */
export function explainQuotedVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.entries(environment)
    .filter(([, value]) => QUOTED.test(value?.trim() ?? ""))
    .map(([name]) => `${name} has quotes as a part of its value; remove them`);
}
