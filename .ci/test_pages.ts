// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task test:pages`: the tests of the pages, if there is a browser for them. */
import { findChromium } from "../tests/pages/chromium.ts";

if (!findChromium()) {
  console.log("no Chromium found: the tests of the pages are skipped (CHROMIUM names one)");
  Deno.exit(0);
}
const { code } = new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "--config=tests/deno.json",
    "--frozen",
    "-A", // Playwright looks into /proc
    "tests/pages/",
    ...Deno.args,
  ],
  stdin: "null",
  stdout: "inherit",
  stderr: "inherit",
}).outputSync();
Deno.exit(code);
