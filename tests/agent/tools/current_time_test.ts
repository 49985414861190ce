import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createCurrentTime } from "../../../agent/tools/current_time.ts";
import { ToolError } from "../../../agent/tools/tool.ts";

function tell(time_zone: string, at = "2025-07-04T22:30:05.250Z") {
  return createCurrentTime(() => new Date(at)).run({ time_zone }, {});
}

Deno.test("the time is local, with its offset, weekday and zone", () => {
  const cases: [string, string][] = [
    ["UTC", "2025-07-04T22:30:05+00:00 (Friday, UTC)"],
    ["Europe/Berlin", "2025-07-05T00:30:05+02:00 (Saturday, Europe/Berlin)"],
    ["Asia/Kolkata", "2025-07-05T04:00:05+05:30 (Saturday, Asia/Kolkata)"],
    ["America/New_York", "2025-07-04T18:30:05-04:00 (Friday, America/New_York)"],
    ["", "2025-07-04T22:30:05+00:00 (Friday, UTC)"],
  ];
  for (const [zone, expected] of cases) assertEquals(tell(zone), expected);
});

Deno.test("daylight saving time is applied", () => {
  assertEquals(
    tell("Europe/Berlin", "2025-01-04T12:00:00Z"),
    "2025-01-04T13:00:00+01:00 (Saturday, Europe/Berlin)",
  );
});

Deno.test("the zone is UTC when the model leaves it out", () => {
  assertEquals(createCurrentTime().schema.parse({}), { time_zone: "UTC" });
});

Deno.test("the error for an unknown zone suggests valid ones", () => {
  const cases: [string, string][] = [
    ["Berlin", "Europe/Berlin"],
    ["New York", "America/New_York"],
    ["Mars", "IANA"],
  ];
  for (const [zone, expected] of cases) {
    assertStringIncludes(assertThrows(() => tell(zone), ToolError).message, expected);
  }
});
