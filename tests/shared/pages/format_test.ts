import { assertEquals } from "@std/assert";
import {
  formatAge,
  formatBytes,
  formatChosen,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";

Deno.test("numbers, scores and counts are written as people read them", () => {
  assertEquals(formatCount(21248), "21,248");
  assertEquals(formatCompact(27327), "27.3K");
  assertEquals([formatScore(0.789), formatScore(1), formatScore(null)], ["0.79", "1.00", "–"]);
  assertEquals([formatScore(-0.07), formatScore(-3, 0)], ["−0.07", "−3"]);
  assertEquals([900, 2_149, 12_000_000].map(formatBytes), ["900 bytes", "2.15 kB", "12 MB"]);
  assertEquals(
    [0.000066, 0.5, 1234.5].map((amount) => formatMoney({ amount, currency: "USD" })),
    ["$0.000066", "$0.50", "$1,234.50"],
  );
  assertEquals(formatNumberOf(1, "model call"), "1 model call");
  assertEquals(formatNumberOf(2000, "reply", "replies"), "2,000 replies");
});

Deno.test("a number that somebody chose keeps its digits", () => {
  assertEquals([0.7, 0.725, 1, 0.005].map(formatChosen), ["0.70", "0.725", "1.00", "0.005"]);
});

Deno.test("durations have the unit that fits, and no sixtieth second", () => {
  const cases: [number, string][] = [
    [0, "0 ms"],
    [84.4, "84 ms"],
    [999.6, "1.0 s"],
    [41_230, "41.2 s"],
    [59_960, "1 min"],
    [185_000, "3 min 5 s"],
    [7_440_000, "2 h 4 min"],
  ];
  for (const [ms, expected] of cases) assertEquals(formatDuration(ms), expected);
});

Deno.test("ages are relative for a week, then dates", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  assertEquals(formatAge(now - 20_000, now), "just now");
  assertEquals(formatAge(now - 5 * 60_000, now), "5 min. ago");
  assertEquals(formatAge(now - 26 * 3_600_000, now), "yesterday");
  assertEquals(formatAge(now - 30 * 86_400_000, now).includes("2026"), true);
});
