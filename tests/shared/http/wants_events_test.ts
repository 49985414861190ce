import { assertEquals } from "@std/assert";
import { wantsEvents } from "../../../shared/http/router/wants_events.ts";

const CASES: [accept: string, events: boolean][] = [
  ["text/event-stream", true],
  ["text/event-stream; charset=utf-8", true],
  ['text/event-stream;charset="UTF-8";q=0.9, application/json;q=0.5', true],
  ["application/json; charset=utf-8, text/event-stream;q=0.5", false],
  ["application/json, text/event-stream", false],
  ["*/*", false],
];

for (const [accept, events] of CASES) {
  Deno.test(`"accept: ${accept}" gets ${events ? "events" : "JSON"}`, () => {
    assertEquals(wantsEvents(new Request("http://h/", { headers: { accept } })), events);
  });
}

Deno.test("without an accept header the answer is JSON", () => {
  assertEquals(wantsEvents(new Request("http://h/")), false);
});
