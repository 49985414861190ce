/** A value that is one text in quotes, as `docker --env-file` and some unit files pass it on. */
const QUOTED = /^(?:"[^"]*"|'[^']*')$/;

/**
 * Says which variables have their quotes as a part of their value. A shell, systemd and `.env` remove
 * them; without such a reader a key is wrong, and a path names another folder.
 */
export function explainQuotedVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.entries(environment)
    .filter(([, value]) => QUOTED.test(value?.trim() ?? ""))
    .map(([name]) => `${name} has quotes around its value, which are a part of it; remove them`);
}
