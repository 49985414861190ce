/** How the names of secret variables end. */
const SECRET_NAME = /(_KEY|_KEYS|_CREDENTIALS|_SECRET|_TOKEN|_PASSWORD)$/;

/** Shorter values would match by chance in most lines, and protect nothing. */
const SHORTEST_SECRET = 6;

/** The scheme is bounded: a long text such as `a.a.a` would be read again from each letter. */
const ADDRESS =
  /\b([a-z][a-z+.-]{0,30}:\/\/)(?:[^\s"'/?#@]*@)?([^\s"'?#\\)]*)(?:[?#][^\s"'\\)]*)?/gi;

/** True for a variable whose value must never be shown. */
export function isSecretVariable(name: string): boolean {
  return SECRET_NAME.test(name);
}

/**
 * Every secret of a configuration: of `name:key` also the key alone, of a map its values, and the
 * passwords of addresses.
 */
export function listSecrets(config: Record<string, unknown>): string[] {
  const keys = Object.entries(config)
    .filter(([name]) => isSecretVariable(name))
    .flatMap(([, value]) => listStrings(value))
    .flatMap((text) => [text, text.slice(text.indexOf(":") + 1)]);
  return [...keys, ...Object.values(config).flatMap(passwordOf)];
}

/** The password of an address, as it is written there and as it is sent; nothing of other values. */
export function passwordOf(value: unknown): string[] {
  if (typeof value !== "string" || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/**
 * A function that removes secrets from a line before it is written. The code does not log them; this
 * is for errors of libraries and servers. URLs lose user-info, query and fragment.
 */
export function createRedactor(secrets: string[]): (line: string) => string {
  const forms = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (line) => line.replace(ADDRESS, "$1$2");
  // In one go: "[secret]" may itself contain a secret.
  const anySecret = new RegExp(longestFirst.map(RegExp.escape).join("|"), "g");
  return (line) => line.replace(ADDRESS, "$1$2").replace(anySecret, "[secret]");
}

function listStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(listStrings);
}
