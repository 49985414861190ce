import { assertEquals } from "@std/assert";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { createServerRedactor, secretsOf } from "../../../agent/mcp/secrets.ts";
import { createRedactor } from "../../../shared/redaction.ts";

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
