import type { z } from "zod";
import { type FieldError, invalidParameter } from "./errors.ts";
import { distance } from "fastest-levenshtein";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

/** The message of zod for a value that matches none of several forms. */
const UNEXPLAINED = "Invalid input";

/**
 * The errors of a schema, with the path of each field. `value` is what the schema was given, to
 * tell a field that is missing from one that is wrong.
 */
export function listFieldErrors({ issues }: z.ZodError, value?: unknown): FieldError[] {
  return issues.slice(0, MOST_ERRORS)
    .flatMap((issue) => explain(issue, { value, parents: [] }))
    .slice(0, MOST_ERRORS);
}

/**
 * If a field may have several forms, the errors are those of the form that was meant: the one whose
 * outermost type fits.
 */
function explain(
  issue: Issue,
  { value, parents }: { value: unknown; parents: Path },
): FieldError[] {
  const path = [...parents, ...issue.path];
  if (isAboutType(issue) && isMissing(value, path)) {
    return [{ path: path.join("."), message: "is missing" }];
  }
  const forms = issue.code === "invalid_union" ? issue.errors : [];
  const isMeant = (inner: Issue) => inner.path.length > 0 || inner.code !== "invalid_type";
  const meant = forms.find((issues) => issues.every(isMeant));
  if (meant) return meant.flatMap((inner) => explain(inner, { value, parents: path }));
  const isExplained = issue.message !== UNEXPLAINED;
  const message = isExplained ? issue.message : describeForms(forms) ?? UNEXPLAINED;
  return [{ path: path.join("."), message }];
}

/** The types of the forms, if the value has none of these types; `undefined` if it has one. */
function describeForms(forms: Issue[][]): string | undefined {
  const types = forms.flatMap(([issue]) => issue?.code === "invalid_type" ? [issue.expected] : []);
  const received = forms[0]?.[0]?.message.split(", received ")[1];
  if (types.length < forms.length || received === undefined) return undefined;
  return `Invalid input: expected ${[...new Set(types)].join(" or ")}, received ${received}`;
}

/** Other messages say more than that a field is missing, such as which values are possible. */
function isAboutType(issue: Issue): boolean {
  return issue.code === "invalid_type" ||
    issue.code === "invalid_union" && issue.discriminator === undefined;
}

/** Whether the path leads to an object that does not have its last field. */
function isMissing(value: unknown, path: Path): boolean {
  const [name, ...within] = path.toReversed();
  if (name === undefined) return false;
  const parent = within.reduceRight(fieldOf, value);
  return typeof parent === "object" && parent !== null && fieldOf(parent, name) === undefined;
}

function fieldOf(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<PropertyKey, unknown>)[name];
}

/** Shorter names, such as `id`, are similar to too many others. */
const SHORTEST = 5;
/** In a name of this length two letters may be wrong. */
const LONG = 10;

/**
 * Refuses unknown fields whose names are nearly those of known ones: `chekcs`, `reference_tool`.
 * Others are the caller's own.
 */
export function refuseMisspelt(known: readonly string[]) {
  return (value: Record<string, unknown>, { addIssue }: z.RefinementCtx): void => {
    for (const name of Object.keys(value)) {
      const hint = known.includes(name) ? "" : hintAt(name, known);
      if (hint) addIssue({ code: "custom", path: [name], message: `unknown field${hint}` });
    }
  };
}

/** `; did you mean …?`, or nothing if no name is nearly the same. */
function hintAt(name: string, known: readonly string[]): string {
  const meant = known.find((one) => isNearly(name, one));
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

/** Throws 400 for a query parameter that is not among the known ones. */
export function requireKnownParameters(url: URL, known: readonly string[]): void {
  for (const name of url.searchParams.keys()) {
    if (known.includes(name)) continue;
    throw invalidParameter(name, `unknown parameter${hintAt(name, known)}`);
  }
}

function isNearly(name: string, known: string): boolean {
  if (known.length < SHORTEST || Math.abs(name.length - known.length) > 2) return false;
  const wrong = distance(name.toLowerCase(), known);
  return wrong <= 1 || (wrong === 2 && (known.length >= LONG || sorted(name) === sorted(known)));
}

function sorted(name: string): string {
  return [...name.toLowerCase()].sort().join("");
}
