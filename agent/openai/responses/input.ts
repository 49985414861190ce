import { parseFields } from "../../../shared/fields.ts";
import type { InputItem } from "../../../shared/schemas/responses.ts";
import { unsupported } from "../error_shape.ts";

/** A message of a chat completion, before its schema has checked it. */
export type InputMessage = Record<string, unknown>;

type Content = Extract<InputItem, { type: "message" }>["content"];
type Part = Exclude<Content, string>[number];

/** Returns the item of an earlier response, which a caller names by its id; else throws 400. */
export type FindItem = (id: string, path: string) => InputItem;

/**
 * The items of a conversation as the messages of a chat completion. Reasoning, text and calls that
 * follow each other are one turn of the model, and so one message.
 */
export function toMessages(input: InputItem[], findItem: FindItem): InputMessage[] {
  const messages: InputMessage[] = [];
  let thoughts: InputMessage = {};

  function addTurn(fields: InputMessage): void {
    messages.push({ role: "assistant", ...thoughts, ...fields });
    thoughts = {};
  }

  for (const [index, given] of input.entries()) {
    const path = `input.${index}`;
    const item = given.type === "item_reference" ? findItem(given.id, path) : given;
    const last = messages.at(-1);
    switch (item.type) {
      case "message": {
        const content = toContent(item.content, `${path}.content`);
        if (item.role === "assistant") addTurn({ content });
        else messages.push({ role: item.role, content });
        break;
      }
      case "function_call": {
        const { call_id: id, name, arguments: text } = item;
        const call = { id, type: "function", function: { name, arguments: text } };
        const isSameTurn = last?.role === "assistant" && Object.keys(thoughts).length === 0;
        if (isSameTurn) last.tool_calls = [...callsOf(last), call];
        else addTurn({ content: null, tool_calls: [call] });
        break;
      }
      case "function_call_output":
        messages.push({
          role: "tool",
          tool_call_id: item.call_id,
          content: toContent(item.output, `${path}.output`),
        });
        break;
      case "reasoning":
        thoughts = { ...thoughts, ...toThoughts(item) };
    }
  }
  return messages;
}

function callsOf({ tool_calls: calls }: InputMessage): unknown[] {
  return Array.isArray(calls) ? calls : [];
}

/** What a model thought goes back to its provider, in the field that most providers use. */
function toThoughts(
  { summary, content, encrypted_content: sealed }: Extract<InputItem, { type: "reasoning" }>,
): InputMessage {
  const fields = sealed ? unsealFields(sealed) : undefined;
  if (fields) return fields;
  const text = [...(content?.length ? content : summary ?? [])].map(({ text }) => text).join(
    "\n\n",
  );
  return text ? { reasoning_content: text } : {};
}

const PREFIX = "assay.";

/**
 * Further fields of a model's message, packed into the `encrypted_content` of its reasoning item:
 * clients keep that text and send it back. It holds nothing that the caller may not read.
 */
export function sealFields(fields: Record<string, unknown>): string {
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  return PREFIX + bytes.toBase64();
}

/** `undefined` if the text is not ours: another service's is of no use to our providers. */
function unsealFields(sealed: string): InputMessage | undefined {
  if (!sealed.startsWith(PREFIX)) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(sealed.slice(PREFIX.length));
    return parseFields(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function toContent(content: Content, path: string): unknown {
  if (typeof content === "string") return content;
  return content.map((part, index) => toPart(part, `${path}.${index}`));
}

function toPart(part: Part, path: string): unknown {
  const { type, ...fields } = part;
  switch (type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text: fields.text };
    case "refusal":
      return { type: "refusal", refusal: fields.refusal };
    case "input_image": {
      const { image_url: url, detail, file_id } = fields;
      if (!url) throw noUrl(`${path}.image_url`, { file_id });
      return { type: "image_url", image_url: { url, ...(detail ? { detail } : {}) } };
    }
    case "input_file": {
      const { file_data, file_id, filename, file_url } = fields;
      if (file_url) throw unsupported(`${path}.file_url`, "send the file itself as file_data");
      const file = Object.entries({ file_data, file_id, filename }).filter(([, value]) => value);
      return { type: "file", file: Object.fromEntries(file) };
    }
    case "input_audio":
      return part;
    default:
      throw unsupported(`${path}.type`, `the part type ${JSON.stringify(type)} is not supported`);
  }
}

function noUrl(path: string, { file_id }: { file_id: unknown }) {
  const reason = file_id ? "files are not stored here" : "it is missing";
  return unsupported(path, `send the image as a URL or as a data URL; ${reason}`);
}
