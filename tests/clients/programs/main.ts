// deno-lint-ignore-file no-console -- says what is skipped
import { startClientService } from "../service.ts";
import { installPrograms } from "./install.ts";
import { useOpencode } from "./opencode.ts";
import { usePromptfoo } from "./promptfoo.ts";

/** opencode is locked for Linux only. */
const ignore = Deno.build.os !== "linux";

Deno.test(
  "promptfoo and opencode work: whole, streamed, with tools of their own",
  { ignore },
  async (t) => {
    await using programs = await installPrograms();
    const { folder, failure } = programs;
    if (failure) return console.log(`skipped: the programs cannot be installed: ${failure}`);
    await using service = await startClientService();
    await t.step("promptfoo", () => usePromptfoo(service, folder));
    await t.step("opencode", () => useOpencode(service, folder));
  },
);
