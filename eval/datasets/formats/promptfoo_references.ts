import { asFields, type Fields, isFields } from "../../../shared/fields.ts";

/** References that may lead to references. */
const MOST_STEPS = 10;

/**
 * What `{"$ref": "#/assertionTemplates/polite"}` stands for in a configuration. Fields beside `$ref`
 * replace those of the same name. Any other value, and a reference to what is not there, is returned
 * as it is.
 */
export function followReference(value: unknown, root: unknown): unknown {
  let found = value;
  let beside: Fields = {};
  for (let step = 0; step < MOST_STEPS; step++) {
    const { $ref, ...others } = asFields(found);
    if (typeof $ref !== "string" || !$ref.startsWith("#/")) {
      return found !== value && isFields(found) ? { ...found, ...beside } : found;
    }
    beside = { ...others, ...beside };
    found = readPointer(root, $ref.slice("#/".length));
    if (found === undefined) return value;
  }
  return value;
}

/** RFC 6901, as it is written in an address. */
function readPointer(root: unknown, pointer: string): unknown {
  let found = root;
  for (const part of pointer.split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
