/** How the names of secret variables end. */
const SECRET_NAME = /(_KEY|_KEYS|_CREDENTIALS|_SECRET|_TOKEN|_PASSWORD)$/;

/** Parameters of an address whose values are secret. */
const SECRET_PARAMETER = /key|token|secret|password|credential|auth|signature|^sig$|^code$/i;

/** Shorter values would match by chance in most lines, and protect nothing. */
const SHORTEST_SECRET = 6;

/**
 * The scheme is a bounded look-behind: otherwise a long text such as `a.a.a` would be searched again
 * from each letter.
 */
const ADDRESS =
  /:\/\/(?<=\b[a-z][a-z+.-]{0,30}:\/\/)(?:[^\s"'/?#@]*@)?([^\s"'?#\\)]*)(?:[?#][^\s"'\\)]*)?/gi;

/** True for a variable whose value must never be shown. */
export function isSecretVariable(name: string): boolean {
  return SECRET_NAME.test(name);
}

/**
 * Every secret of a configuration: of `name:key` also the key alone, of a map its values, and those
 * in addresses.
 */
export function listSecrets(config: Record<string, unknown>): string[] {
  const keys = Object.entries(config)
    .filter(([name]) => isSecretVariable(name))
    .flatMap(([, value]) => listStrings(value))
    .flatMap((text) => [text, text.slice(text.indexOf(":") + 1)]);
  return [...keys, ...Object.values(config).flatMap(secretsInAddress)];
}

/** The password of an address and its secret parameters; nothing of other values. */
export function secretsInAddress(value: unknown): string[] {
  if (typeof value !== "string" || !URL.canParse(value)) return [];
  const { password, search } = new URL(value);
  const parameters = listParameters(search).filter(({ name }) => SECRET_PARAMETER.test(name));
  return [...readings(password), ...parameters.flatMap((parameter) => readings(parameter.value))];
}

/** The query of an address, its parameters, and their values. */
export function partsOfQuery(address: string): string[] {
  const { search } = new URL(address);
  const parameters = listParameters(search);
  return [search.slice(1), ...parameters.flatMap(({ text, value }) => [text, ...readings(value)])];
}

/** As they are written. A text without a name is all value. */
function listParameters(search: string): { text: string; name: string; value: string }[] {
  return search.slice(1).split("&").map((text) => {
    const end = text.indexOf("=");
    return { text, name: text.slice(0, Math.max(0, end)), value: text.slice(end + 1) };
  });
}

/** A part of an address as it is written there, and as it is meant. */
function readings(written: string): string[] {
  // Lenient, as servers are: `decodeURIComponent` throws for a lone `%`.
  const read = (text: string) =>
    new URLSearchParams(`part=${text.replaceAll("&", "%26")}`).get("part")!;
  return [written, read(written), read(written.replaceAll("+", "%2B"))];
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
  if (longestFirst.length === 0) return (line) => line.replace(ADDRESS, "://$1");
  // One pass, because "[secret]" may itself contain a secret.
  const anySecret = new RegExp(longestFirst.map(RegExp.escape).join("|"), "g");
  return (line) => line.replace(ADDRESS, "://$1").replace(anySecret, "[secret]");
}

function listStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(listStrings);
}
