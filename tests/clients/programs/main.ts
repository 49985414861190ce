// deno-lint-ignore-file no-console -- says what is skipped
import { startClientService } from "../service.ts";
import { installPrograms } from "./install.ts";
import { useOpencode } from "./opencode.ts";
import { usePromptfoo } from "./promptfoo.ts";

/** opencode is locked for Linux only. */
const programs = Deno.build.os === "linux" ? await installPrograms() : undefined;
if (programs?.failure) {
  console.log(`skipped: the programs cannot be installed: ${programs.failure}`);
}
Deno.test.afterAll(async () => await programs?.[Symbol.asyncDispose]());

Deno.test(
  "promptfoo and opencode work: whole, streamed, with tools of their own",
  { ignore: !programs || programs.failure !== "" },
  async (t) => {
    const { folder } = programs!;
    await using service = await startClientService();
    await t.step("promptfoo", () => usePromptfoo(service, folder));
    await t.step("opencode", () => useOpencode(service, folder));
  },
);
