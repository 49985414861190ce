import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  createServerRedactor,
  parseMcpConfig,
  readMcpConfig,
  secretsOf,
} from "../../../agent/mcp/config.ts";
import { ConfigError } from "../../../shared/service/config.ts";
import { createRedactor } from "../../../shared/service/log.ts";
import { runServiceCommand, startServiceProcess } from "../../fakes/service_process.ts";

Deno.test("the file has the format of desktop clients, and errors name what is wrong", () => {
  const { servers: [stdio, http] } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      files: { command: "npx", args: ["-y", "x"], env: { A: "1" } },
      web: { type: "http", url: "https://mcp.example/mcp", headers: { authorization: "k" } },
      off: { command: "no", disabled: true },
    },
  }));
  assertEquals([stdio?.name, stdio?.transport, http?.transport], ["files", "stdio", "http"]);
  const cases: [string, string][] = [
    ["{", "not JSON"],
    ["[]", "not a JSON object"],
    ["{}", "mcpServers"],
    ['{"mcpServers":[]}', "mcpServers"],
    ['{"mcpServers":{"a":{}}}', "mcpServers.a: needs a command or an http(s) url"],
    [
      '{"mcpServers":{"a":{"serverUrl":"http://a.b"}}}',
      'mcpServers.a: needs a command or an http(s) url; write "url" in place of "serverUrl"',
    ],
    ['{"mcpServers":{"a":{"httpUrl":"http://a.b"}}}', 'write "url" in place of "httpUrl"'],
    ['{"mcpServers":{"a":{"command":"x","deny":"y"}}}', "mcpServers.a.deny: Inv"],
    [
      '{"mcpServers":{"a":{"command":"x","disabledTools":["y"]}}}',
      'mcpServers.a.disabledTools: name the tools in "allow" or "deny"',
    ],
    ['{"mcpServers":{"a":1}}', "mcpServers.a: must be an object"],
    ['{"mcpServers":{"a":{"url":"file:///x"}}}', "mcpServers.a.url: must be an http or https URL"],
    [
      '{"servers":{"a":{"command":"x","args":"-y"}}}',
      "servers.a.args: Invalid input: expected array",
    ],
    [
      '{"servers":{"a":{"command":"x","args":[1]}}}',
      "servers.a.args.0: Invalid input: expected str",
    ],
    ['{"servers":{"a":{"command":1}}}', "servers.a.command: Invalid input: expected string"],
    ['{"servers":{"a":{"command":"x","env":{"A":true}}}}', "servers.a.env.A: must be a text"],
    ['{"servers":{"a":{"command":"x","cwd":5}}}', "servers.a.cwd: Invalid input"],
    ['{"servers":{"a":{"command":"x","timeout":"5"}}}', "servers.a.timeout: Invalid input"],
    ['{"servers":{"a":{"command":"x","timeout":3e9}}}', "servers.a.timeout: Too big"],
    [
      '{"servers":{"a":{"type":"ws","url":"http://a.b"}}}',
      'servers.a.type: must be "http" or "sse"',
    ],
    ['{"servers":{"a":{"url":"http://a.b","headers":{"x":1}}}}', "servers.a.headers.x: Invalid"],
    [
      '{"servers":{"a":{"url":"http://a.b","headers":{"x":"“k”"}}}}',
      "servers.a.headers.x: cannot be sent in a header",
    ],
    ['{"servers":{"a":{"url":"http://a.b","headers":{"x y":"k"}}}}', "servers.a.headers.x y: "],
    [
      '{"servers":{"a":{"command":"x","env":{"KEY":"${input:key}"}}}}',
      "servers.a.env.KEY: ${input:key} is not replaced here",
    ],
  ];
  for (const [text, reason] of cases) {
    const error = assertThrows(() => parseMcpConfig(text), ConfigError);
    assertStringIncludes(error.message, reason);
    assertStringIncludes(error.message, "AGENT_MCP_CONFIG");
  }
  const missing = assertThrows(() => readMcpConfig("/nowhere/mcp.json"), ConfigError);
  assertStringIncludes(missing.message, "/nowhere/mcp.json does not exist");
});

Deno.test("every wrong entry of a file is named at once", () => {
  const text = '{"servers": {"a": {"command": 1}, "b": {"url": "x"}}}';
  const { message } = assertThrows(() => parseMcpConfig(text), ConfigError);
  assertStringIncludes(message, "servers.a.command");
  assertStringIncludes(message, "servers.b.url");
});

Deno.test("VS Code's form is read, with its comments and trailing commas", () => {
  const { servers } = parseMcpConfig(`{
    // the servers of this workspace
    "inputs": [],
    "servers": {
      "files": { "type": "stdio", "command": "npx", "args": ["-y", "files"], /* slow */ "timeout": 90, },
      "web": { "type": "http", "url": "https://mcp.example/mcp", "timeout": 5000 },
      "old": { "type": "sse", "url": "https://mcp.example/sse" },
    },
  }`);
  assertEquals(servers.map(({ name, transport, timeoutMs }) => [name, transport, timeoutMs]), [
    ["files", "stdio", 90_000],
    ["web", "http", 5_000],
    ["old", "sse", undefined],
  ]);
});

Deno.test("the variable may contain the servers themselves", () => {
  const { servers: [server] } = readMcpConfig(' {"mcpServers": {"a": {"command": "x"}}}');
  assertEquals(server?.name, "a");
});

Deno.test("a text that is not JSON is not quoted: it may be a key", () => {
  const text = '{"servers": {"a": {"url": "http://a.b", "headers": {"k": planted-key}}}}';
  const { message } = assertThrows(() => parseMcpConfig(text), ConfigError);
  assertStringIncludes(message, "it is not JSON at position 57");
  assertEquals(message.includes("planted-key"), false);
});

Deno.test("fields without a meaning are named", () => {
  const { servers, warnings } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      a: { command: "x", alwaysAllow: ["y"], trust: true, deny: ["c"] },
      b: { url: "http://b.test", args: [], allow: ["e"] },
      off: { command: "x", disabled: true },
    },
  }));
  assertEquals(servers.map(({ allow, deny }) => [allow, deny]), [
    [undefined, ["c"]],
    [["e"], undefined],
  ]);
  assertEquals(warnings, [
    "AGENT_MCP_CONFIG: mcpServers.a.alwaysAllow has no meaning here",
    "AGENT_MCP_CONFIG: mcpServers.a.trust has no meaning here",
    "AGENT_MCP_CONFIG: mcpServers.b.args has no meaning here",
  ]);
});

Deno.test("--check and the log name fields without a meaning", async () => {
  const environment = {
    AGENT_MCP_CONFIG: '{"mcpServers": {"a": {"url": "http://127.0.0.1:1", "autoApprove": []}}}',
  };
  const warning = "AGENT_MCP_CONFIG: mcpServers.a.autoApprove has no meaning here";
  const { code, output } = await runServiceCommand("agent", ["--check"], environment);
  assertEquals(code, 0);
  assertStringIncludes(output, `warning: ${warning}`);
  await using agent = await startServiceProcess("agent", { environment });
  assertEquals(agent.lines.filter((line) => line.includes(warning)).length, 1);
});

Deno.test("secrets of an entry's variables, flags and headers are removed, and its paths are not", () => {
  const { servers: [program, remote] } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      program: {
        command: "npx",
        args: [
          "@acme/server",
          "/srv/documents",
          ...["--header", "Authorization: Bearer planted-a"],
          "--api-key=planted-b",
          ...["--token", "planted-c"],
        ],
        env: { KEY: "planted-d", GONE: null },
      },
      remote: { url: "https://a.example/mcp", headers: { authorization: "planted-e" } },
    },
  }));
  const said = "@acme/server: cannot read /srv/documents with";
  const keys = ["planted-a", "planted-b", "planted-c", "planted-d"].join(" ");
  const redact = createRedactor(secretsOf(program!));
  assertEquals(redact(`${said} ${keys}`), `${said} [secret] [secret] [secret] [secret]`);
  const redactRemote = createRedactor(secretsOf(remote!));
  assertEquals(redactRemote("planted-e of Ann"), "[secret] of Ann");
});

Deno.test("a password is removed as it is sent, too, and a header's value whole", () => {
  const { servers: [remote, program] } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      remote: { url: "https://ann:plant%40d-a@a.example/mcp" },
      program: { command: "npx", args: ["--header", "X-Keys: planted-b planted-c"] },
    },
  }));
  const redact = createServerRedactor(remote!);
  assertEquals(redact("ann, plant@d-a or plant%40d-a"), "ann, [secret] or [secret]");
  const redactProgram = createServerRedactor(program!);
  assertEquals(redactProgram("sent planted-b planted-c there"), "sent [secret] there");
});

Deno.test("the key of a bearer header and those in an address are removed where they stand alone", () => {
  const { servers: [remote] } = parseMcpConfig(JSON.stringify({
    mcpServers: {
      remote: {
        url: "https://ann:planted-a@a.example/mcp?api_key=planted-b&profile=default",
        headers: { authorization: "Bearer planted-c" },
      },
    },
  }));
  const redact = createServerRedactor(remote!, (text) => text.replaceAll("planted-d", "[secret]"));
  assertEquals(
    redact("planted-a, planted-b, planted-c and planted-d are not known to default"),
    "[secret], [secret], [secret] and [secret] are not known to default",
  );
});
