const SCHEME = /^postgres(ql)?:\/\//i;

/** True for `postgres://…`; everything else is a path. */
export function isPostgresAddress(text: string): boolean {
  return SCHEME.test(text);
}

/** The address for people: host, port and database, without the user, the password and options. */
export function describePostgres(address: string): string {
  const { host, pathname } = new URL(address);
  return `postgres://${host}${pathname}`;
}

/** True if the address can be parsed and names a database. */
export function isUsablePostgres(text: string): boolean {
  if (!isPostgresAddress(text) || !URL.canParse(text)) return false;
  return new URL(text).pathname.length > 1;
}
