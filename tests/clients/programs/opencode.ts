import { assertEquals, assertStringIncludes } from "@std/assert";
import { ANSWER, type ClientService, FILE_QUESTION, MODEL, QUESTION } from "../service.ts";
import { runProgram } from "./run_program.ts";

/**
 * opencode as scripts run it: one question, answered with a tool of the agent or with one of its
 * own, `read`. It always streams.
 */
export async function useOpencode({ baseURL }: ClientService, programs: string): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const program = `${programs}/node_modules/opencode-linux-${arch}/bin/opencode`;
  const config = {
    model: `assay/${MODEL}`,
    small_model: `assay/${MODEL}`,
    provider: {
      assay: {
        npm: "@ai-sdk/openai-compatible", // part of opencode
        options: { baseURL, apiKey: "any" },
        models: { [MODEL]: { name: MODEL } },
      },
    },
  };
  const env = {
    HOME: folder,
    PWD: `${folder}/project`,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    ...Object.fromEntries(
      ["CONFIG", "DATA", "CACHE", "STATE"].map((kind) => [`XDG_${kind}_HOME`, `${folder}/${kind}`]),
    ),
  };
  const ask = async (question: string) => {
    const args = ["run", "--format", "json", question];
    const printed = await runProgram(program, { args, cwd: env.PWD, env });
    const events = printed.trim().split("\n").map((line) => JSON.parse(line));
    return events.flatMap(({ part }) => part.type === "text" ? [part.text] : []).join("");
  };
  try {
    await Deno.mkdir(env.PWD);
    await Deno.writeTextFile(`${env.PWD}/note.txt`, "the key is under the mat");
    assertEquals(await ask(QUESTION), ANSWER);
    const said = await ask(FILE_QUESTION);
    assertStringIncludes(said, "It says: ");
    assertStringIncludes(said, "the key is under the mat");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
