import { assertEquals } from "@std/assert";
import { createFileSource } from "../../../eval/pages/report/file_source.ts";
import type { RunReport } from "../../../eval/pages/report/report_data.ts";
import type { TurnRow } from "../../../eval/run/events/turn_view.ts";

type Turn = Partial<TurnRow>;

const passed: Turn = { outcome: "passed", scores: { overall: 0.9 } };
const failed: Turn = { outcome: "failed", scores: { overall: 0 } };
const missing = (low: number, high: number): Turn => ({
  outcome: "missing",
  scores: { overall: null },
  overall_bounds: [low, high],
});

/** Of attempts by their turns, each with a threshold of 0.7. */
async function standingsOf(attempts: Turn[][]): Promise<string[]> {
  const turns = attempts.flatMap((own, index) =>
    own.map((turn, place) => ({ scenario: 0, attempt_id: index + 1, turn: place, ...turn }))
  );
  const run = { attempts: attempts.length };
  const report = { run, scenarios: [{ id: "s", description: "" }], pass_threshold: 0.7, turns };
  const { scenarios } = await createFileSource(report as unknown as RunReport).scenarios("run", {});
  return scenarios[0]!.attempts.map(({ standing }) => standing);
}

Deno.test("an attempt of a report stands where the service says that it does", async () => {
  const standings = await standingsOf([
    [passed],
    [{ outcome: "below", scores: { overall: 0.2 } }],
    [passed, missing(0.6, 1)], // 0.75 at least
    [passed, missing(0, 1)],
    [passed, missing(0, 0.3)],
    [failed, failed],
    [{ ...passed, barred_by: ["json"] }],
    [{ ...passed, may_be_barred: true }],
    [{ outcome: "unscored", scores: { overall: null } }],
  ]);
  assertEquals(standings, [
    "passed",
    "below",
    "passed",
    "missing",
    "below",
    "below",
    "below",
    "missing",
    "unscored",
  ]);
});
