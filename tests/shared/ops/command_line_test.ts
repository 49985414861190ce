import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { commandOf, runServiceCommand } from "../../fakes/service_process.ts";
import { withFolder } from "../../fakes/with_folder.ts";

for (const service of ["agent", "eval"] as const) {
  const name = `assay-${service}`;

  Deno.test(`${name} --help says how it is used and configured`, async () => {
    const { code, output } = await runServiceCommand(service, ["--help"]);
    assertEquals(code, 0);
    assertStringIncludes(output, "--check");
    assertStringIncludes(output, service === "agent" ? "AGENT_PORT" : "EVAL_DATA");
    assertStringIncludes(output, ".env");
  });

  Deno.test(`${name} --version says what it is`, async () => {
    const { code, output } = await runServiceCommand(service, ["--version"]);
    assertEquals(code, 0);
    assertMatch(output, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\), deno \\d`));
  });

  Deno.test(`${name} --check prints the configuration without secrets, and exits`, async () => {
    const { code, output } = await runServiceCommand(service, ["--check"], {
      API_KEYS: "ada:planted-secret,bob:other-secret",
      HUB_API_KEY: "planted-secret",
      EVAL_CREDENTIALS: '{"https://api.example.com": "planted-secret"}',
      HUB_BASE_URL: "https://hub.example/v1?key=planted-secret",
      STUDIO_BASE_URL: "https://user:planted-secret@studio.example/v1",
      RATE_LIMIT: "60/min",
    });
    assertEquals(code, 0);
    assertStringIncludes(output, "the configuration is valid");
    assertStringIncludes(output, "API_KEYS: 2 set");
    assert(!output.includes("secret"), output);
  });

  Deno.test(`${name} --check of an invalid configuration exits with 1 and names the variable`, async () => {
    const bad = await runServiceCommand(service, ["--check"], { RATE_LIMIT: "fast" });
    assertEquals(bad.code, 1);
    assertStringIncludes(bad.output, "RATE_LIMIT");
    const unsafe = await runServiceCommand(service, ["--check"], { HOST: "0.0.0.0" });
    assertEquals(unsafe.code, 1);
    assertStringIncludes(unsafe.output, "API_KEYS");
  });
}

Deno.test("--check warns of short keys by name, as the start does", async () => {
  const { output } = await runServiceCommand("agent", ["--check"], { API_KEYS: "ci:short-key" });
  assertStringIncludes(output, "warning: API_KEYS contains keys of fewer than 16 characters");
  assertStringIncludes(output, "which can be guessed: ci");
  assert(!output.includes("short-key"), output);
});

Deno.test("an unexpected argument is named, and the help follows", async () => {
  const { code, output } = await runServiceCommand("agent", ["--sevre"]);
  assertEquals(code, 1);
  assertStringIncludes(output, '"--sevre"');
  assertStringIncludes(output, "--help");
});

Deno.test("a second argument is not ignored: it is help, or it is named", async () => {
  for (const service of ["agent", "eval"] as const) {
    const help = await runServiceCommand(service, ["--check", "--help"]);
    assertEquals(help.code, 0);
    assertStringIncludes(help.output, "print this help");
    const extra = await runServiceCommand(service, ["--check", "extra"]);
    assertEquals(extra.code, 1);
    assertStringIncludes(extra.output, 'unexpected argument "extra"');
  }
});

Deno.test("a .env in UTF-16, as some editors save it, is not read as an empty one", () =>
  withFolder(async (cwd) => {
    const text = [..."\ufeffLOG_LEVEL=debug\n"].map((letter) => letter.charCodeAt(0));
    await Deno.writeFile(`${cwd}/.env`, new Uint8Array(new Uint16Array(text).buffer));
    const args = [...commandOf("agent"), "--check"];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd }).output();
    assertEquals(code, 1);
    assertStringIncludes(new TextDecoder().decode(stderr), ".env in the working folder");
  }));

Deno.test("an address that cannot be listened on is named with HOST, not with the port", async () => {
  // 192.0.2.1 is reserved for documents: no machine has it.
  const { code, output } = await runServiceCommand("agent", [], {
    HOST: "192.0.2.1",
    API_KEYS: "none",
    AGENT_PORT: "0",
  });
  assertEquals(code, 1);
  assertStringIncludes(output, "see HOST");
});
