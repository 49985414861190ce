import { assertEquals, assertStringIncludes } from "@std/assert";
import { readPage } from "../docs/pages.ts";
import { FRONTEND_PACKAGES } from "../packages/frontends.ts";
import { pageSuite } from "./browser.ts";
import { startScriptedAgent } from "./chat.ts";
import { SUPPORT } from "./scripted_hub.ts";

/** The pages of `docs/frontend.md`, bundled as they stand there, on an origin of their own. */
async function startFrontends() {
  const agent = await startScriptedAgent();
  const [aiSdk, agui, byHand] = readPage("docs/frontend.md").blocks
    .filter(({ language }) => ["tsx", "js"].includes(language))
    .map(({ text }) => text.replaceAll("http://localhost:8000", agent.url));
  const shown = `${byHand}
    globalThis.ask = async (text) => {
      const seen = [];
      const select = document.createElement("select");
      await listModels(select);
      for await (const event of ask([{ type: "human", content: text }], select.value)) {
        seen.push(event);
      }
      return seen;
    };`;
  const resumed = aiSdk!
    .replace("useChat({ transport })", 'useChat({ transport, id: "chat-7", resume: true })')
    .replace('"x-model-id": model', '"x-model-id": model, "x-agent-resume": "true"');
  const scripts = await bundle({ aiSdk: aiSdk!, agui: agui!, byHand: shown, resumed });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const name = new URL(url).pathname.slice(1);
    const script = scripts[name]?.replaceAll("</script", "<\\/script");
    const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">` +
      `<body><script type="module">${script}</script>`;
    return new Response(html, { headers: { "content-type": "text/html" } });
  });
  return {
    hub: agent.hub,
    agent: agent.url,
    url: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await agent[Symbol.asyncDispose]();
    },
  };
}

/** With Deno's own bundler, and the packages of the tests' lock. */
async function bundle(sources: Record<string, string>): Promise<Record<string, string>> {
  const folder = await Deno.makeTempDir();
  const config = {
    imports: FRONTEND_PACKAGES,
    compilerOptions: { jsx: "react-jsx", jsxImportSource: "react" },
  };
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));
  await Deno.copyFile(new URL("../deno.lock", import.meta.url), `${folder}/deno.lock`);
  const scripts: Record<string, string> = {};
  for (const [name, source] of Object.entries(sources)) {
    await Deno.writeTextFile(`${folder}/${name}.tsx`, source);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      cwd: folder,
      args: [
        ...["bundle", "--quiet", "--platform", "browser", "--config", "deno.json"],
        ...["-o", `${name}.js`, `${name}.tsx`],
      ],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    scripts[name] = await Deno.readTextFile(`${folder}/${name}.js`);
  }
  await Deno.remove(folder, { recursive: true });
  return scripts;
}

const suite = pageSuite(startFrontends);

for (const name of ["aiSdk", "agui"]) {
  suite.test(
    `the page of docs/frontend.md (${name}) shows an answer, a tool's result and an error`,
    async ({ url, hub }, open) => {
      await using tab = await open(`${url}/${name}`);
      const { page } = tab;
      await page.getByRole("textbox").fill("calculate 17 * 23");
      await page.getByRole("textbox").press("Enter");
      await page.getByText(/was asked: calculate/).waitFor();
      await page.getByText(/\b391$/).waitFor();
      await page.getByRole("textbox").fill("Thanks");
      await page.getByRole("textbox").press("Enter");
      await page.getByText(/was asked: Thanks/).waitFor();
      const roles = hub.requests.at(-1)!.body.messages.map(({ role }: { role: string }) => role);
      assertEquals(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
      tab.expect(/502|Agent execution failed/);
      await page.getByRole("textbox").fill(`fail ${name}`);
      await page.getByRole("textbox").press("Enter");
      await page.getByRole("alert").waitFor();
    },
  );
}

suite.test(
  "the list of fine-tuned models is offered, and the chosen one answers",
  async ({ url }, open) => {
    await using tab = await open(`${url}/aiSdk`);
    const { page } = tab;
    await page.getByRole("combobox").selectOption(SUPPORT.name);
    await page.getByRole("textbox").fill("Hello");
    const sent = page.waitForRequest(/ai-sdk$/);
    await page.getByRole("textbox").press("Enter");
    assertEquals((await sent).headers()["x-model-id"], SUPPORT.id);
    await page.getByText(/was asked: Hello/).waitFor();
  },
);

suite.test("the stream by hand has the events of an answer", async ({ url }, open) => {
  await using tab = await open(`${url}/byHand`);
  const names = await tab.page.evaluate(async () => {
    const { ask } = globalThis as unknown as { ask(text: string): Promise<{ name: string }[]> };
    return [...new Set((await ask("calculate 17 * 23")).map(({ name }) => name))];
  });
  assertEquals(names, ["tool_call", "tool_result", "token", "message", "done"]);
});

const said = { id: "1", role: "user", content: "hold by AG-UI" };
const STREAMS: [path: string, body: unknown, last: string][] = [
  ["/", { prompt: "hold by hand" }, "event: done"],
  [
    "/ag-ui",
    { threadId: "t", runId: "run-7", messages: [said], tools: [], context: [] },
    "RUN_FINISHED",
  ],
];
for (const [path, body, last] of STREAMS) {
  suite.test(
    `a page takes up a stream of POST ${path} behind the last event that it has read`,
    async ({ agent, url, hub }, open) => {
      await using tab = await open(`${url}/byHand`);
      const begun = await tab.page.evaluate(async ([address, body]) => {
        const leaving = new AbortController();
        const response = await fetch(address!, {
          method: "POST",
          headers: {
            accept: "text/event-stream",
            "content-type": "application/json",
            "x-model-id": "acme/model-01",
            "x-agent-resume": "true",
          },
          body: body!,
          signal: leaving.signal,
        });
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        while (!text.includes("The beginning.")) text += (await reader.read()).value;
        leaving.abort();
        await reader.closed.catch(() => {});
        return {
          stream: response.headers.get("x-agent-stream") ?? "run-7", // its run, with AG-UI
          last: [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
        };
      }, [agent + path, JSON.stringify(body)]);
      hub.release();
      const rest = await tab.page.evaluate(async ([address, last]) => {
        const response = await fetch(address!, { headers: { "last-event-id": last! } });
        return await response.text();
      }, [`${agent}/streams/${begun.stream}`, begun.last]);
      const next = Number(begun.last!.split("/")[1]) + 1;
      assertEquals(/^id: (.*)$/m.exec(rest)?.[1], `${begun.stream}/${next}`);
      assertStringIncludes(rest, last);
    },
  );
}

suite.test(
  "a page that is opened again takes up the answer that is under way",
  async ({ url, hub }, open) => {
    const before = hub.requests.filter(({ path }) => path.endsWith("/completions")).length;
    await using tab = await open(`${url}/resumed`);
    const { page } = tab;
    await page.getByRole("textbox").fill("hold on");
    await page.getByRole("textbox").press("Enter");
    await page.getByText("The beginning.").waitFor();
    await page.reload();
    await page.getByText("The beginning.").waitFor();
    hub.release();
    await page.getByText(/The beginning\. .* was asked: hold on/).waitFor();
    assertEquals(
      hub.requests.filter(({ path }) => path.endsWith("/completions")).length,
      before + 1,
    );
  },
);
