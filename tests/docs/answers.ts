/** Compares what a document shows with what a command printed. `…` stands for what was left out. */

const GAP = "…";

/** Numbers that differ from run to run. */
const MEASURED = /(^|_)ms$|^(created|created_at|completed_at)$/;
/** Sentences for people, which may change without the documents. */
const WORDS = ["detail", "reason", "description", "about"];
/** The last digits of a score depend on the processor. */
const TOLERANCE = 0.001;

/** The text with placeholders for ids, times and durations. */
export function withoutIds(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "<time>")
    .replaceAll(/"(\w*ms)":[\d.]+/g, '"$1":0')
    .replaceAll(/(dur|time)=("?)[\d.]+/g, "$1=$20")
    .replaceAll(/^(date|Date): .*$/gm, "date: <time>");
}

/** One line for each difference. */
export function compareJson(shown: unknown, printed: unknown, path = "$"): string[] {
  if (kindOf(shown) !== kindOf(printed)) {
    return [`${path}: shown ${JSON.stringify(shown)}, printed ${JSON.stringify(printed)}`];
  }
  if (Array.isArray(shown)) return compareArrays(shown, printed as unknown[], path);
  if (typeof shown === "object" && shown !== null) {
    return compareObjects(shown as Fields, printed as Fields, path);
  }
  if (isEqual(keyOf(path), shown, printed)) return [];
  return [`${path}: shown ${JSON.stringify(shown)}, printed ${JSON.stringify(printed)}`];
}

function keyOf(path: string): string {
  return path.split(".").at(-1)!;
}

type Fields = Record<string, unknown>;

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function compareObjects(shown: Fields, printed: Fields, path: string): string[] {
  const names = Object.keys(shown).filter((name) => name !== GAP);
  const unknown = GAP in shown ? [] : Object.keys(printed).filter((name) => !(name in shown));
  return [
    ...unknown.map((name) => `${path}.${name}: printed, but not shown`),
    ...names.flatMap((name) =>
      name in printed
        ? compareJson(shown[name], printed[name], `${path}.${name}`)
        : [`${path}.${name}: shown, but not printed`]
    ),
  ];
}

function compareArrays(shown: unknown[], printed: unknown[], path: string): string[] {
  const isShort = shown.at(-1) === GAP;
  const items = isShort ? shown.slice(0, -1) : shown;
  if (isShort ? printed.length < items.length : printed.length !== items.length) {
    return [`${path}: shown ${items.length} items, printed ${printed.length}`];
  }
  return items.flatMap((item, index) => compareJson(item, printed[index], `${path}.${index}`));
}

function isEqual(key: string, shown: unknown, printed: unknown): boolean {
  if (WORDS.includes(key)) return true;
  if (typeof shown === "number" && typeof printed === "number") {
    if (MEASURED.test(key)) return true;
    const isWhole = Number.isInteger(shown) && Number.isInteger(printed);
    return isWhole ? shown === printed : Math.abs(shown - printed) <= TOLERANCE;
  }
  if (typeof shown === "string" && typeof printed === "string") return matchLine(shown, printed);
  return shown === printed;
}

/** `…` in a line stands for any characters. */
function matchLine(shown: string, printed: string): boolean {
  const parts = withoutIds(shown).split(GAP).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join("[^]*")}$`).test(withoutIds(printed));
}

/** Compares plain text; a line that is only `…`, or begins with it, stands for any lines. */
export function compareText(shown: string, printed: string): string[] {
  const lines = withoutIds(shown).trimEnd().split("\n").map((line) =>
    line.startsWith(GAP) ? "(.*\\n)*?" : `${line.split(GAP).map(RegExp.escape).join(".*")}\\n`
  );
  const isMatch = new RegExp(`^${lines.join("")}$`).test(`${withoutIds(printed).trimEnd()}\n`);
  return isMatch ? [] : [`shown:\n${shown}\nprinted:\n${printed}`];
}

/** `shown`, with what was printed where they differ; what is left out stays left out. */
export function refreshJson(shown: unknown, printed: unknown, path = "$"): unknown {
  if (kindOf(shown) !== kindOf(printed) || WORDS.includes(keyOf(path))) return printed;
  if (Array.isArray(shown)) return refreshArray(shown, printed as unknown[], path);
  if (typeof shown === "object" && shown !== null) {
    return refreshObject(shown as Fields, printed as Fields, path);
  }
  return isEqual(keyOf(path), shown, printed) ? shown : printed;
}

function refreshArray(shown: unknown[], printed: unknown[], path: string): unknown[] {
  const isShort = shown.at(-1) === GAP;
  const items = isShort ? printed.slice(0, shown.length - 1) : printed;
  const fresh = items.map((item, index) =>
    index < shown.length ? refreshJson(shown[index], item, `${path}.${index}`) : item
  );
  return isShort ? [...fresh, GAP] : fresh;
}

function refreshObject(shown: Fields, printed: Fields, path: string): Fields {
  const names = Object.keys(GAP in shown ? shown : printed);
  const fresh = names.filter((name) => name in printed).map((name) => [
    name,
    name in shown ? refreshJson(shown[name], printed[name], `${path}.${name}`) : printed[name],
  ]);
  return { ...Object.fromEntries(fresh), ...(GAP in shown && { [GAP]: shown[GAP] }) };
}
