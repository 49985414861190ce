import { parse } from "@std/jsonc";
import { z } from "zod";
import { ConfigError, headerKey, MAX_TIMER_MS } from "../../shared/service/config.ts";
import { type Fields, isFields } from "../../shared/service/fields.ts";
import { HEADER_NAME } from "../../shared/http/guards.ts";
import { createRedactor, secretsInAddress } from "../../shared/service/log.ts";

/** A value of `env`; `null` removes an inherited variable. */
const EnvValue = z.union([z.string(), z.number().transform(String), z.null()], {
  error: "must be a text, a number or null",
});

/** The limit of a start, in milliseconds. Less than 1,000 is taken for seconds, as some clients do. */
const Timeout = z.number().positive()
  .transform((given) => given < 1_000 ? given * 1_000 : given)
  .pipe(z.number().max(MAX_TIMER_MS))
  .optional();

/** A field with the names of tools. */
const Names = z.array(z.string()).optional();

const Common = z.object({
  timeout: Timeout,
  disabled: z.boolean().optional(),
  allow: Names,
  deny: Names,
});

const Program = Common.extend({
  type: z.literal("stdio", { error: 'must be "stdio" for a command' }).optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), EnvValue).default({}),
  cwd: z.string().optional(),
  protocolVersion: z.literal("2026-07-28").optional(),
});

const Remote = Common.extend({
  type: z.enum(["http", "streamable-http", "sse"], { error: 'must be "http" or "sse" for a url' })
    .optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
  headers: z.record(
    z.string().regex(HEADER_NAME, { error: "is not the name of a header" }),
    headerKey(),
  ).default({}),
});

interface CommonFields {
  name: string;
  /** The limit of its start and of its list of tools, in milliseconds. */
  timeoutMs?: number | undefined;
  /** The tools to offer; unset: all. */
  allow?: string[] | undefined;
  /** The tools not to offer. */
  deny?: string[] | undefined;
}

/** One server of the file: a program to start, or an address to connect to. */
export type McpServer =
  & CommonFields
  & (
    | { transport: "stdio" } & Omit<z.infer<typeof Program>, keyof z.infer<typeof Common> | "type">
    | { transport: "http" | "sse" } & Pick<z.infer<typeof Remote>, "url" | "headers">
  );

interface McpConfig {
  servers: McpServer[];
  /** Names the fields that have no meaning here. */
  warnings: string[];
}

/**
 * Reads the servers from a file, or from the text itself if it is a JSON object. Throws
 * `ConfigError`.
 */
export function readMcpConfig(setting: string): McpConfig {
  return parseMcpConfig(setting.trimStart().startsWith("{") ? setting : readFile(setting));
}

/**
 * Parses `{"mcpServers": {…}}` of desktop clients, or `{"servers": {…}}` of VS Code, with comments
 * and trailing commas. `disabled: true` leaves a server out. Throws `ConfigError`, which names
 * each wrong field.
 */
export function parseMcpConfig(text: string): McpConfig {
  const file = parseFile(text);
  const key = "mcpServers" in file ? "mcpServers" : "servers";
  const entries = file[key];
  if (!isFields(entries)) throw refuse('needs an object "mcpServers" or "servers"');
  const wrong: string[] = [];
  const config: McpConfig = { servers: [], warnings: [] };
  for (const [name, entry] of Object.entries(entries)) {
    const path = `${key}.${name}`;
    if (!isFields(entry)) wrong.push(`${path}: must be an object`);
    else if (entry.disabled !== true) parseEntry(entry, { name, path, wrong, config });
  }
  if (wrong.length > 0) throw refuse(wrong.join("\n  "));
  return config;
}

function parseEntry(entry: Fields, { name, path, wrong, config }: {
  name: string;
  /** Of the entry, for messages. */
  path: string;
  /** Receives the errors of the entry. */
  wrong: string[];
  /** Receives the server, and warnings about unknown fields. */
  config: McpConfig;
}): void {
  const isProgram = "command" in entry;
  if (!isProgram && !("url" in entry)) {
    const other = ["serverUrl", "httpUrl"].find((field) => field in entry);
    const hint = other ? `; write "url" in place of "${other}"` : "";
    return void wrong.push(`${path}: needs a command or an http(s) url${hint}`);
  }
  const schema = isProgram ? Program : Remote;
  const unknown = Object.keys(entry).filter((field) => !Object.hasOwn(schema.shape, field));
  wrong.push(
    ...unknown.filter((field) => /tools$/i.test(field))
      .map((field) => `${path}.${field}: name the tools in "allow" or "deny"`),
  );
  config.warnings.push(
    ...unknown.map((field) => `AGENT_MCP_CONFIG: ${path}.${field} has no meaning here`),
  );
  const result = schema.safeParse(entry);
  for (const { path: field, message } of result.error?.issues ?? []) {
    wrong.push(`${[path, ...field].join(".")}: ${message}`);
  }
  findPlaceholders(entry, path, wrong);
  if (result.success) {
    config.servers.push(
      toServer(name, result.data as z.infer<typeof Program> | z.infer<typeof Remote>),
    );
  }
}

function toServer(
  name: string,
  entry: z.infer<typeof Program> | z.infer<typeof Remote>,
): McpServer {
  const { timeout: timeoutMs, allow, deny } = entry;
  const common = { name, timeoutMs, allow, deny };
  if ("command" in entry) {
    const { command, args, env, cwd, protocolVersion } = entry;
    return { ...common, transport: "stdio", command, args, env, cwd, protocolVersion };
  }
  const { type, url, headers } = entry;
  return { ...common, transport: type === "sse" ? "sse" : "http", url, headers };
}

/** `${input:key}` and `${env:KEY}` are filled in by editors, but not by a service. */
function findPlaceholders(value: unknown, path: string, wrong: string[]): void {
  if (typeof value === "string") {
    const found = /\$\{(input|env|workspaceFolder|userHome)\b[^}]*\}/.exec(value);
    if (found) wrong.push(`${path}: ${found[0]} is not replaced here; write the value itself`);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      findPlaceholders(inner, `${path}.${key}`, wrong);
    }
  }
}

function readFile(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw refuse(`${path} does not exist`);
    if (error instanceof Deno.errors.IsADirectory) throw refuse(`${path} is a folder`);
    if (error instanceof Deno.errors.NotCapable) throw refuse(explainReading(path));
    throw error;
  }
}

function explainReading(path: string): string {
  const help = explainPermission(`--allow-read=${path}`);
  return `no permission to read ${path}; ${help}; or set AGENT_MCP_CONFIG to the file's content`;
}

function parseFile(text: string): Fields {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    // Not the whole message: it quotes the text, which may contain a key.
    const [where = ""] = /at position \d+$/.exec(String(error)) ?? [];
    throw refuse(`it is not JSON ${where}`.trim());
  }
  if (!isFields(value)) throw refuse("it is not a JSON object");
  return value;
}

function refuse(reason: string): ConfigError {
  return new ConfigError(`cannot start: AGENT_MCP_CONFIG is invalid:\n  ${reason}`);
}

/**
 * How to give the service a permission that it lacks, such as `--allow-run=npx`. A binary has its
 * permissions built in.
 */
export function explainPermission(flag: string, isBinary = Deno.build.standalone): string {
  return isBinary
    ? `build with: deno task compile ${flag}`
    : `start with: DENO_FLAGS=${flag} deno task agent`;
}

/** Flags whose values are secret, such as `--api-key` and `--header`. */
const SECRET_FLAG = /^-+[\w-]*(key|token|secret|password|credential|auth|header)/i;

/**
 * Removes the secrets of an entry from a text of its server, and with `redact` those of the service.
 */
export function createServerRedactor(
  server: McpServer,
  redact: (text: string) => string = String,
): (text: string) => string {
  const redactOwn = createRedactor(secretsOf(server));
  return (text) => redactOwn(redact(text));
}

/**
 * The secrets of an entry, which a server may write into its errors. Of the arguments these are only
 * the values of `SECRET_FLAG`: paths and names of packages help to explain an error.
 */
export function secretsOf(server: McpServer): string[] {
  if (server.transport !== "stdio") {
    return [...Object.values(server.headers).flatMap(withKey), ...secretsInAddress(server.url)];
  }
  const values = Object.values(server.env).filter((value) => value !== null);
  return [...values, ...server.args.flatMap(secretsIn)];
}

/** For `Bearer …` also the key alone. */
function withKey(value: string): string[] {
  return [value, value.split(/[\s:]+/).at(-1) ?? ""];
}

function secretsIn(argument: string, index: number, all: string[]): string[] {
  const [, flag = all[index - 1] ?? "", value = argument] = /^(-[^=]+)=(.*)$/s.exec(argument) ?? [];
  if (!SECRET_FLAG.test(flag)) return [];
  return [value.slice(value.indexOf(":") + 1).trim(), ...withKey(value)];
}
