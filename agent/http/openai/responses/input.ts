import { AppError, unsupportedField } from "../../../../shared/service/errors.ts";
import { asList, asText, filterFields } from "../../../../shared/service/fields.ts";
import { pickExtra } from "../../../../shared/providers/content.ts";
import { toToolCallParam } from "../../../../shared/providers/openai_messages.ts";
import { InputItem } from "../../schemas/responses.ts";
import { type OutputItem, unsealFields } from "./output.ts";
import { createRecent } from "../../../core/run/recent.ts";

/** A message of a chat completion, before its schema has checked it. */
type InputMessage = Record<string, unknown>;

type Content = Extract<InputItem, { type: "message" }>["content"];
type Part = Exclude<Content, string>[number];

/** Returns the item of an earlier response, by its id. */
export type FindItem = (id: string) => InputItem | undefined;

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
    const item = complete(given, { path, findItem });
    const last = messages.at(-1);
    switch (item.type) {
      case "message": {
        const content = toContent(item.content, `${path}.content`);
        if (item.role === "assistant") addTurn({ content, ...unsealFields(item) });
        else messages.push({ role: item.role, content });
        break;
      }
      case "function_call": {
        const { call, fields } = toCall(item);
        const isSameTurn = last?.role === "assistant" && Object.keys(thoughts).length === 0;
        if (!isSameTurn) addTurn({ content: null, tool_calls: [call], ...fields });
        else Object.assign(last, { tool_calls: withCall(last.tool_calls, call) }, fields);
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

/** Adds in place: copying the list for each call would take quadratic time. */
function withCall(calls: unknown, call: unknown): unknown[] {
  const list = asList(calls);
  list.push(call);
  return list;
}

/**
 * Replaces a reference by the item it names. An item that is sent with the id of an earlier one gets
 * the fields that the caller left out: many clients keep only those they know.
 */
function complete(
  given: InputItem,
  { path, findItem }: { path: string; findItem: FindItem },
): InputItem {
  const id = asText(given.id);
  const kept = id ? findItem(id) : undefined;
  if (given.type === "item_reference") {
    if (!kept) throw unknownItem(given.id, path);
    return kept;
  }
  if (kept?.type !== given.type) return given;
  return { ...kept, ...filterFields<unknown>(given, (value) => value !== null) } as InputItem;
}

function unknownItem(id: string, path: string): AppError {
  const message = `the item ${JSON.stringify(id.slice(0, 100))} is not known: items are kept for ` +
    `${KEPT_MINUTES} minutes; send the item itself (most clients do so with store: false)`;
  return new AppError(400, "invalid_request", `cannot use ${path}: ${message}`, {
    errors: [{ path, message }],
  });
}

const KNOWN_CALL_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "status",
  "call_id",
  "name",
  "arguments",
  "encrypted_content",
  "from_model",
]);

/**
 * A call with the fields that its provider sent, and those of its turn. The fields of an item without
 * `from_model` are the client's own.
 */
function toCall(item: Extract<InputItem, { type: "function_call" }>) {
  const { call_id: id, name, arguments: text, from_model } = item;
  const extra = from_model ? pickExtra(item, KNOWN_CALL_FIELDS) : undefined;
  const call = toToolCallParam({ id, name, arguments: text }, extra);
  return { call, fields: { ...(extra && { from_model }), ...unsealFields(item) } };
}

/** What a model thought goes back to its provider, in the field that most providers use. */
function toThoughts(
  item: Extract<InputItem, { type: "reasoning" }>,
): InputMessage {
  const { summary, content } = item;
  const fields = unsealFields(item);
  if (fields) return fields;
  const text = [...(content?.length ? content : summary ?? [])].map(({ text }) => text).join(
    "\n\n",
  );
  return text ? { reasoning_content: text } : {};
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
      if (file_url) throw unsupportedField(`${path}.file_url`, "send the file itself as file_data");
      return { type: "file", file: filterFields({ file_data, file_id, filename }, Boolean) };
    }
    case "input_audio":
      return part;
    default:
      throw unsupportedField(
        `${path}.type`,
        `the part type ${JSON.stringify(type)} is not supported`,
      );
  }
}

function noUrl(path: string, { file_id }: { file_id: unknown }) {
  const reason = file_id ? "files are not stored here" : "it is missing";
  return unsupportedField(path, `send the image as a URL or as a data URL; ${reason}`);
}

/** How long a caller may name an item of an earlier response by its id. */
const KEPT_MINUTES = 10;
const KEPT_CHARACTERS = 16_000_000;

/** The items of the last responses. Only the same caller finds them. */
export function createKeptItems() {
  const recent = createRecent<OutputItem>({
    maxAgeMs: KEPT_MINUTES * 60_000,
    maxCharacters: KEPT_CHARACTERS,
  });
  return {
    keep(items: OutputItem[], caller: string): void {
      for (const item of items) recent.keep(item, { caller, keys: [item.id] });
    },
    find(id: string, caller: string): InputItem | undefined {
      const item = recent.find(id, caller);
      return item && InputItem.parse(item);
    },
  };
}
