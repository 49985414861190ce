/** Characters that XML 1.0 does not allow, not even escaped. */
// deno-lint-ignore no-control-regex -- they are searched for
const UNWRITABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // In an attribute, readers turn these into blanks or drop them unless they are escaped.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Text between tags. Control characters are left out, a half surrogate pair becomes U+FFFD. */
export function xmlText(text: string): string {
  return clean(text).replace(/[&<>\r]/g, (character) => ENTITIES[character]!);
}

/**
 * Attributes with a blank before each; the values may hold anything.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(xmlAttributes({ name: "a < b", tests: 2 }), ' name="a &lt; b" tests="2"');
 * ```
 */
export function xmlAttributes(attributes: Record<string, string | number>): string {
  const escape = (value: string | number) =>
    clean(String(value)).replace(/[&<>"\t\n\r]/g, (character) => ENTITIES[character]!);
  return Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`).join("");
}

function clean(text: string): string {
  return text.toWellFormed().replace(UNWRITABLE, "");
}
