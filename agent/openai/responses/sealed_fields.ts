import { asText, type Fields, parseFields } from "../../../shared/fields.ts";

const PREFIX = "assay.";

/**
 * Further fields of a model's message, packed into the `encrypted_content` of its reasoning item, or
 * of another item of its turn: clients keep that text and send it back. It holds nothing that the
 * caller may not read.
 */
export function sealFields(fields: Fields): string {
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  return PREFIX + bytes.toBase64();
}

/** `undefined` if there are none, or not ours: another service's are of no use to our providers. */
export function unsealFields({ encrypted_content }: Fields): Fields | undefined {
  const sealed = asText(encrypted_content);
  if (!sealed?.startsWith(PREFIX)) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(sealed.slice(PREFIX.length));
    return parseFields(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
