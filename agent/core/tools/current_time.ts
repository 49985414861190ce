import { z } from "zod";
import { type Tool, ToolError } from "./tool.ts";

const schema = z.object({
  time_zone: z.string().trim().default("UTC")
    .describe("IANA time zone, for example Europe/Berlin; UTC when left out"),
});

/** The date and time in a time zone, to the second. */
export function createCurrentTime(now: () => Date = () => new Date()): Tool<typeof schema, string> {
  return {
    name: "current_time",
    description: "The current date, time and weekday in a time zone.",
    schema,
    run({ time_zone }) {
      const zone = time_zone || "UTC"; // models send "" for an argument that they could leave out
      const parts = formatParts(now(), zone);
      const date = `${parts.year}-${parts.month}-${parts.day}`;
      const time = `${parts.hour}:${parts.minute}:${parts.second}`;
      // "GMT+05:30", or only "GMT" if there is no difference.
      const offset = parts.timeZoneName?.replace("GMT", "") || "+00:00";
      return `${date}T${time}${offset} (${parts.weekday}, ${zone})`;
    },
  };
}

function formatParts(date: Date, timeZone: string): Record<string, string> {
  const format = createFormat(timeZone);
  return Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-GB", {
      timeZone,
      calendar: "iso8601",
      weekday: "long",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ToolError(`cannot tell the time in ${JSON.stringify(timeZone)}: ${advise(timeZone)}`);
  }
}

/** Models often send only a city: suggests the zones that end in it. */
function advise(timeZone: string): string {
  const city = timeZone.split("/").at(-1)!.trim().replaceAll(" ", "_").toLowerCase();
  const meant = Intl.supportedValuesOf("timeZone")
    .filter((zone) => zone.toLowerCase().endsWith(`/${city}`));
  if (meant.length > 0) return `did you mean ${meant.join(" or ")}?`;
  return "it is not an IANA time zone; use a name such as Europe/Berlin or Asia/Tokyo";
}
