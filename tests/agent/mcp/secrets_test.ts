import { assertEquals } from "@std/assert";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { secretsOf } from "../../../agent/mcp/secrets.ts";
import { createRedactor } from "../../../shared/redaction.ts";

Deno.test("secrets of an entry's variables, flags and headers are removed, and its paths are not", () => {
  const [program, remote] = parseMcpConfig(JSON.stringify({
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
  assertEquals(secretsOf(remote!), ["planted-e"]);
});
