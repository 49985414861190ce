import type { ProviderWords } from "../service/errors.ts";
import {
  asFields,
  asList,
  asText,
  type Fields,
  isFields,
  parseFields,
  tryParseJson,
} from "../service/fields.ts";
import { shorten } from "../service/text.ts";

const MAX_MESSAGE = 2_000;
const MAX_FIELD = 200;
const MAX_GENERATION = 10_000;
/** Characters that are shown of an answer that is not a completion. */
const MAX_START = 200;
/** Characters that are read of such an answer: more than any error has, and longer than secrets. */
export const MAX_READ = 64 * 1024;

export type Redact = (text: string) => string;

/**
 * What the body of an error says, in any of the usual shapes: OpenAI's `{"error": {…}}`, Ollama's
 * `{"error": "…"}`, FastAPI's `{"detail": …}`, `{"message": …}`, Cloudflare's `{"errors": [{…}]}`,
 * Gemini's list of one error, or plain text. `undefined` if it says nothing, or is a page of HTML.
 */
export function readWords(body: string, redact: Redact): ProviderWords | undefined {
  const parsed = tryParseJson(body);
  const fields = findError(parsed);
  const isText = parsed === undefined && !/^\s*[<[{]/.test(body);
  const text = fields ? messageOf(fields) + upstreamOf(fields, redact) : isText ? body : "";
  const message = tidy(redact(text), MAX_MESSAGE);
  const { status, type = status, code, param } = fields ?? {};
  const field = (value: unknown) =>
    typeof value === "string" || typeof value === "number"
      ? tidy(redact(String(value)), MAX_FIELD) || null
      : null;
  const generation = asText(fields?.failed_generation);
  const inner = parseFields(redact(JSON.stringify(fields?.innererror ?? "")));
  const words = {
    message,
    type: field(type),
    code: field(code),
    param: field(param),
    ...(generation && { failed_generation: shorten(redact(generation), MAX_GENERATION, "…") }),
    ...(inner && { innererror: inner }),
  };
  return message || words.code || words.type ? words : undefined;
}

/** The first characters of an answer, on one line. */
export function startOf(body: string, redact: Redact): string {
  const read = body.length > MAX_READ ? dropCutWord(body.slice(0, MAX_READ)) : body;
  return tidy(redact(read).slice(0, 8 * MAX_START), MAX_START);
}

/** Drops the last word of a cut text before it is redacted: half a secret is not recognised. */
export function dropCutWord(text: string): string {
  // The look-behind keeps the search from starting again at each character of a long word.
  return text.replace(/(?<!\S)\S+$/, "…");
}

/** Without control characters and line breaks. Takes a redacted text: a cut could hide a secret. */
function tidy(redacted: string, max: number): string {
  // deno-lint-ignore no-control-regex -- a provider may send any byte
  const line = redacted.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  return shorten(line, max, "…");
}

/** The object that describes the error; text becomes its `message`. */
function findError(value: unknown): Fields | undefined {
  if (Array.isArray(value)) return isFields(value[0]) ? findError(value[0]) : undefined;
  if (!isFields(value)) return undefined;
  if (typeof value.error === "string") return { ...value, message: value.error };
  if (isFields(value.error)) return value.error;
  const [first] = asList(value.errors);
  return isFields(first) ? first : value;
}

/** OpenRouter's message is "Provider returned error"; that provider's own is in `metadata.raw`. */
function upstreamOf({ metadata }: Fields, redact: Redact): string {
  const raw = asText(asFields(metadata).raw);
  const said = raw && readWords(raw, redact)?.message;
  return said ? `: ${said}` : "";
}

function messageOf({ message, detail, msg, status }: Fields): string {
  const said = [message, detail, msg].find((text) => text !== undefined && text !== null);
  if (said !== undefined) return typeof said === "string" ? said : JSON.stringify(said);
  return typeof status === "string" ? status : "";
}
