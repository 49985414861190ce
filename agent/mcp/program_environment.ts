/**
 * The environment of a program: what the service passes on, and the entry's own variables, where
 * `null` takes one away.
 */
export function programEnvironment(
  own: Record<string, string | null>,
  passedOn: Record<string, string>,
): Record<string, string> {
  const set = Object.entries({ ...passedOn, ...own }).filter((entry): entry is [string, string] =>
    entry[1] !== null
  );
  return Object.fromEntries(set);
}

/** The system's folder for temporary files: a program without a folder of its own starts there. */
export function temporaryFolder({ TMPDIR, TEMP }: Record<string, string>): string {
  return TMPDIR ?? TEMP ?? "/tmp";
}
