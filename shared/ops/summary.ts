import { describePostgres, isPostgresAddress } from "../postgres/address.ts";
import { isSecretVariable } from "../redaction.ts";

/** Shown instead of a secret. */
const HIDDEN = "set";

/**
 * The configuration for the first log line: every variable that differs from its default. Secrets
 * are shown as `set`, several keys by their number. So is the content of a file that is given in
 * place of its path: it may contain keys. URLs lose every part that may be a secret.
 */
export function summariseConfig(
  config: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, string> {
  const summary: Record<string, string> = {};
  for (const [variable, value] of Object.entries(config)) {
    const text = render(value);
    if (value === undefined || text === render(defaults[variable])) continue;
    summary[variable] = isSecretVariable(variable) ? describeSecret(value) : text;
  }
  return summary;
}

function describeSecret(value: unknown): string {
  if (Array.isArray(value)) return describeKeys(value);
  if (typeof value !== "object" || value === null) return HIDDEN;
  return `${HIDDEN} for ${Object.keys(value).join(", ")}`;
}

/** `API_KEYS=none` means that callers need none: it is not a key. */
function describeKeys(values: unknown[]): string {
  const keys = values.filter((value) => value !== "none");
  return keys.length > 0 ? `${keys.length} ${HIDDEN}` : "none";
}

function render(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  if (value.trimStart().startsWith("{")) return HIDDEN;
  return isPostgresAddress(value) ? describePostgres(value) : value;
}
