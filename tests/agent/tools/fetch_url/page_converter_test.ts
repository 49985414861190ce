import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createPageConverter } from "../../../../agent/tools/fetch_url/page_converter.ts";
import { COMPUTE_ONLY } from "../../../../shared/background/worker_options.ts";
import { isAbort } from "../../../../shared/errors.ts";
import { PATIENT, refusal } from "../../../fakes/fetch_url_tool.ts";

Deno.test("the event loop is not blocked while a page is converted", async () => {
  using converter = createPageConverter(PATIENT);
  const convert = (html: string) =>
    converter.convert({ html, url: "http://site.test/" }, new AbortController().signal);
  await convert("<p>The worker is up.");
  let turns = 0;
  const turn = () => void (turns++, timer = setTimeout(turn, 0));
  let timer = setTimeout(turn, 0);
  await convert("<p>a <b>b</b>".repeat(6_000));
  clearTimeout(timer);
  assert(turns > 3, `${turns}`);
});

Deno.test("a page that cannot be converted in time is refused, and the next one is read", async () => {
  const script = new URL("../../../fakes/slow_page_worker.ts", import.meta.url);
  const events: string[] = [];
  using converter = createPageConverter({
    timeoutMs: 3_000,
    onEvent: ({ kind }) => void events.push(kind),
    start: () => new Worker(script, COMPUTE_ONLY),
  });
  const convert = (html: string) =>
    converter.convert({ html, url: "http://site.test/" }, new AbortController().signal);
  const told = refusal(() => convert("endless"));
  assertEquals(await convert("<p>next"), "next");
  assertStringIncludes(await told, "takes too long");
  assertEquals(events, ["died", "restarted", "recovered"]);
});

Deno.test("a page is not converted if its caller has left", async () => {
  using converter = createPageConverter(PATIENT);
  const gone = new AbortController();
  const page = (html: string) => ({ html, url: "http://site.test/" });
  const first = converter.convert(page("<p>first"), new AbortController().signal);
  const second = converter.convert(page("<p>second"), gone.signal);
  gone.abort();
  assert(isAbort(await assertRejects(() => second)));
  assertEquals(await first, "first");
});
