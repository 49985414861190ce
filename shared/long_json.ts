import { createYielder, type Yielder } from "./yielder.ts";

/** Texts up to here, in characters, are parsed at once: that takes a few milliseconds. */
export const LONG_JSON = 128 * 1024;

/** An array or an object that is too long to be parsed at once. */
interface Container {
  /** Where its closing bracket is. */
  end: number;
  /** Where the commas between its members are. */
  commas: number[];
}

/**
 * As `JSON.parse`, but the event loop runs between the pieces of a long text. Throws `SyntaxError`,
 * whose message may be another one. The nesting must be bounded: see `createShapeGauge`.
 */
export async function parseLongJson(text: string): Promise<unknown> {
  if (text.length <= LONG_JSON) return JSON.parse(text);
  const yieldIfDue = createYielder();
  const containers = await findLongContainers(text, yieldIfDue);
  const start = skipBlanks(text, 0);
  const root = containers.get(start);
  if (!root) return JSON.parse(text); // a long string, or no JSON
  if (skipBlanks(text, root.end + 1) < text.length) throw unexpected(root.end + 1);
  return await parseContainer(start);

  async function parseContainer(start: number): Promise<unknown> {
    const { end, commas } = containers.get(start)!;
    const isArray = text[start] === "[";
    if (text[end] !== (isArray ? "]" : "}")) throw unexpected(end);
    const items: unknown[] = [];
    const fields: Record<string, unknown> = {};
    const bounds = [start, ...commas, end];
    for (let at = 0; at < bounds.length - 1;) {
      await yieldIfDue();
      const from = bounds[at]! + 1;
      const long = findLongValue(from, { end: bounds[at + 1]!, isArray });
      if (long) {
        const value = await parseContainer(long.start);
        if (long.key === undefined) items.push(value);
        else setField(fields, long.key, value);
        at++;
        continue;
      }
      const next = endOfGroup(bounds, at);
      const to = bounds[next]!;
      if (next === at + 1 && commas.length > 0 && skipBlanks(text, from) === to) {
        throw unexpected(to); // nothing between two commas; elsewhere the parser sees it
      }
      const members = text.slice(from, to);
      if (isArray) { for (const item of JSON.parse(`[${members}]`)) items.push(item); }
      else {
        for (const [key, value] of Object.entries(JSON.parse(`{${members}}`))) {
          setField(fields, key, value);
        }
      }
      at = next;
    }
    return isArray ? items : fields;
  }

  /** The long container that is a member by itself, and its key in an object. */
  function findLongValue(from: number, { end, isArray }: { end: number; isArray: boolean }) {
    if (end - from <= LONG_JSON) return undefined;
    let start = skipBlanks(text, from);
    let key: string | undefined;
    if (!isArray) {
      if (text[start] !== '"') return undefined;
      const keyEnd = endOfString(text, start) + 1;
      const colon = skipBlanks(text, keyEnd);
      if (text[colon] !== ":") return undefined;
      key = JSON.parse(text.slice(start, keyEnd)) as string;
      start = skipBlanks(text, colon + 1);
    }
    const found = containers.get(start);
    return found && skipBlanks(text, found.end + 1) === end ? { start, key } : undefined;
  }

  /** As many members as are parsed at once; one at least. */
  function endOfGroup(bounds: number[], first: number): number {
    let next = first + 1;
    while (next < bounds.length - 1 && bounds[next + 1]! - bounds[first]! <= LONG_JSON) next++;
    return next;
  }
}

/** By where they begin. */
async function findLongContainers(
  text: string,
  yieldIfDue: Yielder,
): Promise<Map<number, Container>> {
  const found = new Map<number, Container>();
  const open: { start: number; commas: number[] }[] = [];
  let nextPause = LONG_JSON;
  for (let at = 0; at < text.length; at++) {
    if (at >= nextPause) {
      await yieldIfDue();
      nextPause = at + LONG_JSON;
    }
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x2c: // ,
        open.at(-1)?.commas.push(at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        open.push({ start: at, commas: [] });
        break;
      case 0x5d: // ]
      case 0x7d: { // }
        const closed = open.pop();
        if (!closed) throw unexpected(at);
        if (at - closed.start > LONG_JSON) {
          found.set(closed.start, { end: at, commas: closed.commas });
        }
      }
    }
  }
  if (open.length > 0) throw unexpected(text.length);
  return found;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === "\\") first--;
    if ((quote - first) % 2 === 0) return quote;
  }
  throw unexpected(text.length);
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at++;
  return at;
}

/** Also a field called `__proto__` is a field. */
function setField(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") fields[key] = value;
  else {
    Object.defineProperty(fields, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

function unexpected(at: number): SyntaxError {
  return new SyntaxError(`unexpected character or end of JSON at position ${at}`);
}
