import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type McpConnectOptions, StartFailure } from "../../../agent/mcp/client.ts";
import { connectMcp } from "../../fakes/connect_mcp.ts";
// the MCP SDK's client leaves a timer of its close behind
import { test } from "../../fakes/leaky.ts";

test("a program that writes endlessly, one line or to stderr, is given up", async () => {
  const script = new URL("../../fakes/endless_server.ts", import.meta.url).pathname;
  for (const way of ["line", "stderr"]) {
    const args = ["run", "--quiet", script, way];
    const { session, closed } = await connectMcp({ command: Deno.execPath(), args });
    const call = session.callTool("flood", { args: {} });
    if (way === "stderr") {
      assertEquals(await call, "still here"); // all of it is read, and its end is kept
      assertEquals(session.readStderr?.().length, 4096);
    } else {
      await assertRejects(() => call);
      assertEquals(await closed, "it sent a message over 8388608 bytes");
    }
    await session.close();
  }
});

const TELLING = new URL("../../fakes/telling_server.ts", import.meta.url).pathname;
const telling = (way: string, more: Record<string, unknown> = {}) => ({
  command: Deno.execPath(),
  args: ["run", "-A", "--quiet", TELLING, way],
  ...more,
});

test("a program gets PATH, HOME and the locale, and starts in the folder for temporary files", async () => {
  const { session } = await connectMcp(
    telling("well", { env: { OWN: "1", LANG: "tlh", USER: null } }),
  );
  const { env, cwd } = JSON.parse(await session.callTool("tell", { args: {} }) as string);
  assertEquals([env.PATH, env.HOME], [Deno.env.get("PATH"), Deno.env.get("HOME")]);
  assertEquals([env.OWN, env.LANG, env.USER], ["1", "tlh", undefined]);
  assert(!("DENO_TESTING_SECRET" in env));
  assertEquals(cwd, await Deno.realPath(Deno.env.get("TMPDIR") ?? "/tmp"));
  await session.close();
});

test("a program starts in the folder of its entry", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const { session } = await connectMcp(telling("well", { cwd: folder }));
  const { cwd } = JSON.parse(await session.callTool("tell", { args: {} }) as string);
  assertEquals(cwd, folder);
  await session.close();
  await Deno.remove(folder);
});

test("what a program that fails wrote last is reported, without the secrets of its entry", async () => {
  const error = await assertRejects(
    () => connectMcp(telling("fail", { env: { KEY: "entry-secret" } })),
    StartFailure,
  );
  assertEquals(error.message, "the program ended, or does not speak MCP");
  assert(error.stderr.endsWith("cannot start: [secret]"), error.stderr.slice(-50));
  assert(error.stderr.length <= 4096);
});

test("the limit of a start is that of the entry, else that of the configuration", async () => {
  const cases: [entry: Record<string, unknown>, options: McpConnectOptions][] = [
    [telling("late", { timeout: 0.1 }), { timeoutMs: 600_000 }],
    [telling("late"), { timeoutMs: 100 }],
  ];
  for (const [entry, options] of cases) {
    const error = await assertRejects(() => connectMcp(entry, options), StartFailure);
    assertEquals(
      error.message,
      'it did not answer within 0.1 s ("timeout" of its entry)',
    );
  }
});

const MODERN = {
  command: Deno.execPath(),
  args: [
    "run",
    "-A",
    "--quiet",
    "--cached-only",
    `--lock=${new URL("../../deno.lock", import.meta.url).pathname}`,
    new URL("../../fakes/modern_server.ts", import.meta.url).pathname,
  ],
  env: { DENO_DIR: Deno.env.get("DENO_DIR") ?? null }, // where its packages are
  timeout: 30_000,
};

test("a program speaks the version that its entry names, else the earlier one", async () => {
  for (const [more, era] of [[{ protocolVersion: "2026-07-28" }, "modern"], [{}, "legacy"]]) {
    const { session } = await connectMcp({ ...MODERN, ...(more as Record<string, unknown>) });
    assertStringIncludes(
      await session.callTool("era", { args: { word: "it is" } }) as string,
      `it is ${era}`,
    );
    await session.close();
  }
});

test("a program without the version that its entry names says so", async () => {
  const entry = telling("well", { protocolVersion: "2026-07-28" });
  const { message } = await assertRejects(() => connectMcp(entry), StartFailure);
  assertEquals(message, 'it does not speak the "protocolVersion" of its entry');
});
