import { z } from "zod";
import {
  asFields,
  asList,
  type Fields,
  filterFields,
  isFields,
} from "../../shared/service/fields.ts";
import { shorten } from "../../shared/service/text.ts";

/** A tool of a server's list. */
export interface McpToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** The tools of a server that are used. */
export interface McpToolList {
  tools: McpToolDefinition[];
  /** The names of tools whose definitions cannot be used. */
  unusable?: string[];
  /** Set if the list is longer: why the rest was left out. */
  leftOut?: string;
}

/** One page of the protocol. Its tools are checked one by one, so that one invalid tool is skipped. */
export interface ToolPage {
  tools: unknown[];
  nextCursor?: string | undefined;
}

const optionalText = z.string().optional().catch(undefined);

/** Arguments are always sent as an object, even if the schema also allows `null`. */
const ObjectType = z.union([
  z.literal("object"),
  z.array(z.unknown()).refine((types) => types.includes("object")),
]).transform(() => "object");

/**
 * Some servers describe a tool without arguments by `{}`: that is an object without properties.
 * Others, in Go, send `null` for missing fields.
 */
const ListedTool = z.object({
  name: z.string(),
  title: optionalText,
  description: optionalText,
  execution: z.looseObject({ taskSupport: z.unknown() }).optional().catch(undefined),
  inputSchema: z.looseObject({
    type: ObjectType.default("object"),
    properties: z.record(z.string(), z.union([z.boolean(), z.custom<Fields>(isFields)])).nullish(),
    required: z.array(z.string()).nullish(),
  }).transform(({ properties, required, ...rest }) => ({
    ...rest,
    ...(properties && { properties }),
    ...(required && { required }),
  })),
});

/** More than any tool says of itself; it is sent with every call of the model. */
const LONGEST_DESCRIPTION = 20_000;

function readTool(given: unknown): McpToolDefinition | undefined {
  const { data } = ListedTool.safeParse(given);
  // A tool that runs only as a task, which the agent does not start, would refuse every call.
  if (!data || data.execution?.taskSupport === "required") return undefined;
  const { name, title, description, inputSchema } = data;
  const said = [description, title].find((text) => text?.trim());
  return {
    name,
    description: shorten(said ?? name, LONGEST_DESCRIPTION, "… (cut)"),
    inputSchema: toPortable(inputSchema),
  };
}

/** For the log: a name is the server's text, of any length. */
function nameOf(tool: unknown): string {
  const { name } = asFields(tool);
  return typeof name === "string" ? shorten(name, 100) : "(unnamed)";
}

const TOOL_LIST_LIMITS = {
  maxPages: 100,
  maxTools: 1_000,
  /** Of all definitions as JSON. */
  maxCharacters: 8 * 1024 * 1024,
};

/** Names of unusable tools that are kept for the log. */
const MAX_NAMED = 20;

/**
 * Reads a list page by page, up to the limits: a server's list may be endless. If two tools have the
 * same name, the first is used: models refuse a request with duplicate names.
 */
export async function readToolList(
  readPage: (cursor: string | undefined) => Promise<ToolPage>,
  { maxPages, maxTools, maxCharacters } = TOOL_LIST_LIMITS,
): Promise<McpToolList> {
  const tools: McpToolDefinition[] = [];
  const unusable: string[] = [];
  const definitions = new Map<string, string>();
  const list = () => ({ tools, ...(unusable.length > 0 && { unusable }) });
  let characters = 0;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { tools: listed, nextCursor } = await readPage(cursor);
    for (const given of listed) {
      const tool = readTool(given);
      const definition = JSON.stringify(tool) ?? "";
      const known = tool && definitions.get(tool.name);
      if (tool && known === definition) continue;
      if (!tool || known !== undefined) {
        if (unusable.length < MAX_NAMED) unusable.push(nameOf(given));
        continue;
      }
      definitions.set(tool.name, definition);
      characters += definition.length;
      if (tools.length === maxTools) return { ...list(), leftOut: `over ${maxTools} tools` };
      if (characters > maxCharacters) {
        return { ...list(), leftOut: `over ${maxCharacters} characters` };
      }
      tools.push(tool);
    }
    if (!nextCursor) return list();
    if (nextCursor === cursor) {
      return { ...list(), leftOut: "a page that names itself as the next page" };
    }
    cursor = nextCursor;
  }
  return { ...list(), leftOut: `over ${maxPages} pages` };
}

/** Levels of a schema that are read: more than any real one has. */
const MAX_LEVELS = 100;

/**
 * Turns a schema into one that every provider accepts; they refuse the whole request for any other.
 * OpenAI requires `items` in every array, and not as a list, the older form of tuples. Gemini and
 * others do not know `true` and `false` as schemas, which servers in Go and Rust send. The result
 * allows the same values or more, and the server checks the rest. Within a rule such as `not` it
 * allows exactly the same.
 */
function toPortable(
  schema: Fields,
  { levels = MAX_LEVELS, isRule = false }: { levels?: number; isRule?: boolean } = {},
): Fields {
  if (levels === 0) return schema;
  const { items, additionalItems, properties, ...others } = schema;
  const isTuple = Array.isArray(items);
  const isArray = isTuple || [schema.type].flat().includes("array");
  const further = isTuple ? additionalItems : items;
  const known: Fields = {
    ...others,
    ...(isTuple && { prefixItems: items }),
    ...((isArray || further !== undefined) && {
      items: isFields(further) || (isRule && further === false) ? further : {},
    }),
    // No value is valid for a property whose schema is `false`.
    ...(isFields(properties) && {
      properties: isRule ? properties : filterFields(properties, (inner) => inner !== false),
    }),
  };
  const mapped = mapSchemas(known, (inner, key) => {
    if (typeof inner === "boolean") return inner ? {} : { not: {} };
    if (!isFields(inner)) return inner;
    return toPortable(inner, { levels: levels - 1, isRule: isRule || RULES.has(key) });
  });
  const { additionalProperties: more } = schema;
  // Booleans are common here, and every provider accepts them.
  return typeof more === "boolean" ? { ...mapped, additionalProperties: more } : mapped;
}

/** A copy of a schema, with all schemas that are directly in it mapped. */
function mapSchemas(schema: Fields, map: (inner: unknown, key: string) => unknown): Fields {
  const mapped = Object.entries(schema).map(([key, value]) => {
    const toInner = (inner: unknown) => map(inner, key);
    if (SCHEMAS.has(key) && Array.isArray(value)) return [key, value.map(toInner)];
    if (SCHEMA.has(key)) return [key, toInner(value)];
    if (!NAMED_SCHEMAS.has(key) || !isFields(value)) return [key, value];
    const named = Object.entries(value).map(([name, inner]) => [name, toInner(inner)]);
    return [key, Object.fromEntries(named)];
  });
  return Object.fromEntries(mapped);
}

/** The keywords whose values are schemas. Others, such as `default`, have plain values. */
const SCHEMA = new Set(["items", "additionalProperties", "contains", "propertyNames", "not"]);
const SCHEMAS = new Set(["anyOf", "allOf", "oneOf", "prefixItems", "items"]);
const RULES = new Set(["anyOf", "allOf", "oneOf", "not"]);
const NAMED_SCHEMAS = new Set(["properties", "$defs", "definitions"]);

/** Keywords at the top of a tool's schema for which OpenAI and Anthropic refuse the request. */
const REFUSED = ["oneOf", "anyOf", "allOf", "not", "enum"];

/** Characters of the description that names the alternatives. */
const MAX_ALTERNATIVES = 4_000;

/**
 * The schema that models see. OpenAI requires `properties`, also for a tool without arguments.
 * Alternatives at the top become one list of properties, and are described in words.
 */
export function toParameters({ $schema: _, ...schema }: Fields): Fields {
  const kept = filterFields(schema, (_, key) => !REFUSED.includes(key));
  const refused = filterFields(schema, (_, key) => REFUSED.includes(key));
  const parameters: Fields = { properties: {}, ...kept };
  if (Object.keys(refused).length === 0) return parameters;
  const branchesOf = (key: string) =>
    new Set(asList(schema[key]).map((branch) => resolve(branch, schema)));
  const branches = new Set(["allOf", "anyOf", "oneOf"].flatMap((key) => [...branchesOf(key)]));
  const required = [...branchesOf("allOf")].flatMap((branch) => asList(branch.required));
  const rules = shorten(JSON.stringify(refused), MAX_ALTERNATIVES);
  const said = `The arguments must also fit ${rules}`;
  return {
    ...parameters,
    description: [schema.description, said].filter(Boolean).join("\n"),
    properties: mergeProperties([schema, ...branches]),
    ...(required.length > 0 && {
      required: [...new Set([...asList(schema.required), ...required])],
    }),
  };
}

/** A branch, or what it refers to within the schema. */
function resolve(branch: unknown, schema: Fields): Fields {
  const fields = asFields(branch);
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(fields.$ref)) ?? [];
  return group && name ? asFields(asFields(schema[group])[name]) : fields;
}

/** If schemas describe a property differently, it may match any of the descriptions. */
function mergeProperties(schemas: Fields[]): Fields {
  const found = new Map<string, Map<string, unknown>>();
  const all = schemas.flatMap((schema) => Object.entries(asFields(schema.properties)));
  for (const [name, property] of all) {
    const forms = found.get(name) ?? new Map<string, unknown>();
    found.set(name, forms.set(JSON.stringify(property), property));
  }
  const merged = [...found].map(([name, forms]) => {
    const [first, ...others] = forms.values();
    return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
  });
  return Object.fromEntries(merged);
}
