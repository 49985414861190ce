import { counted } from "../../shared/service/text.ts";
import type { ComparedPair, LeftOut, Unpaired } from "../figures/comparison.ts";
import type { RunSummary } from "../figures/run_summary.ts";
import type { CheckCount } from "../test/checks.ts";
import { joined, kept, type Line, name, say, scoreName, type Table, tableOf } from "./sections.ts";

// What pages show, too: no module of the service is loaded for it.

/** Names in a list. */
export const SHOWN_NAMES = 5;

/** Where the spread of `overall` comes from, and how many scenarios would show a difference. */
export function spreadLines(
  { spread, scenarios_needed = {} }: Pick<RunSummary, "spread" | "scenarios_needed">,
): Line[] {
  const percent = (share: number | null, of: string) =>
    share !== null && `${Math.round(100 * share)} % ${of}`;
  const [first, ...others] = Object.entries(scenarios_needed);
  return kept([
    spread && say`Of the spread of overall, ${
      kept([
        percent(spread.scenarios, "is between scenarios"),
        percent(spread.attempts, "between attempts"),
        percent(spread.judge, "the judge"),
      ]).join(", ")
    }`,
    first &&
    say`At most ${first[1]} scenarios like these would show a difference of ${
      first[0]
    } to another run${
      others.map(([difference, count]) => `, ${count} one of ${difference}`).join("")
    }`,
  ]);
}

/** How often each check was met. */
export function checkTable(counts: CheckCount[]): Table {
  return tableOf(
    ["check", "required", "unmet", "undecided", "met"],
    counts.map(({ name: check, required, failed, missing, passed }) => ({
      check: name(check),
      required: required ? "yes" : "no",
      ...{ unmet: failed, undecided: missing, met: passed },
    })),
  );
}

/** In words why something was not compared. */
const LEFT_OUT_REASONS: Record<LeftOut["reason"], string> = {
  not_in_baseline: "the baseline does not have it",
  not_in_candidate: "the candidate does not have it",
  other_method: "the runs computed it by different methods",
  other_expectation: "the runs do not expect the same there",
  no_common_part: "none of its parts can be compared",
};

/** What one run lacks or computed otherwise; of each list at most so many names. */
export function notComparedLines(pair: ComparedPair, most = SHOWN_NAMES): Line[] {
  return kept([
    ...pair.left_out.map(({ score, turns, reason, detail }) =>
      say`Not compared: ${scoreName(score)} at ${counted(turns, "turn")}, ${
        LEFT_OUT_REASONS[reason]
      }${detail === null ? "" : say` (${name(detail)})`}`
    ),
    unpairedLine("Only in the baseline", pair.only_in_baseline, most),
    unpairedLine("Only in the candidate", pair.only_in_candidate, most),
  ]);
}

function unpairedLine(
  title: string,
  { scenarios, turns, scores }: Unpaired,
  most: number,
): Line | false {
  const places = turns.map((turn) => `${turn.scenario_id} / ${turn.interaction_id}`);
  const parts = Object.entries({ scenarios, turns: places, scores })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) =>
      say`${kind} ${listed(names, most, kind === "scores" ? scoreName : undefined)}`
    );
  return parts.length > 0 && say`${title}: ${joined(parts, "; ")}`;
}

export function listed(
  names: string[],
  most = SHOWN_NAMES,
  of: (text: string) => Line = name,
): Line {
  const more = names.length - most;
  const shown = joined(names.slice(0, most).map((text) => of(text)), ", ");
  return more > 0 ? [...shown, ` and ${more} more`] : shown;
}
