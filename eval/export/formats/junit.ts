import { describeContradiction } from "../text/turn_text.ts";
import type { TurnCounts } from "../../schemas/evaluate_response.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";
import { referencesOf } from "../../assess/references.ts";
import { hasWrongTools } from "../../schemas/barred.ts";
import { isBarring } from "../../schemas/checks.ts";
import { isAskedTheSecondWay } from "../../schemas/conversations.ts";
import { roundedBelow } from "../../../shared/rounding.ts";
import { shorten } from "../../../shared/text.ts";
import type { StoredTurn } from "../../store/turns/turn_record.ts";
import { HEADLINE } from "../../results/passing.ts";
import { withoutQuery } from "../../endpoint/endpoint_address.ts";
import { describeFailedChecks } from "../text/turn_text.ts";
import { countedTurns } from "../text/run_numbers.ts";
import { type Counts, readNumbers, type RunNumbers } from "../text/run_numbers.ts";
import type { ExportFormat, ExportSource } from "../format.ts";
import { type ComparisonSuite, comparisonSuite, xmlAttributes, xmlText } from "./xml.ts";
import { outcomeOf } from "../../results/outcome.ts";
import { showMean } from "../text/text_form.ts";
import { describeTools } from "../text/turn_text.ts";

/** Of a reply that is shown with a failure; whole replies are in the other formats. */
const SHOWN_CHARACTERS = 2000;

/**
 * JUnit XML as CI systems read it: one suite per scenario, one case per turn of an attempt. A turn
 * below the threshold is a `failure`, a call that failed or a turn whose score is missing an `error`,
 * a turn without expectations `skipped`. A run that ended early is an error of its own: half a run
 * must not turn a build green. A comparison has a suite of its own. Suites state their counts before
 * their cases, so the run is read twice.
 */
export const junit: ExportFormat = {
  name: "junit",
  extension: "xml",
  contentType: "application/xml; charset=utf-8",
  uses: ["threshold", "group threshold"],
  write: (source) => writeReport([source]),
  /** The suites of all runs; their names begin with that of the model. */
  async *writeGroup({ runs }) {
    yield* writeReport(await runs());
  },
};

/** One report of several runs, of which there is at least one. Those of a group have its names. */
async function* writeReport(sources: ExportSource[]): AsyncGenerator<string> {
  const allNumbers: RunNumbers[] = [];
  for (const source of sources) allNumbers.push(await readNumbers(source));
  const prefixes = sources.map(({ run }) =>
    sources.length > 1 ? `${run.group?.name ?? run.modelId} / ` : ""
  );
  const compared = sources.map((source, index) => comparisonSuite(source, prefixes[index]!));
  const counts = sources.map(({ run }, index) =>
    withComparison(countWithEnd(run, allNumbers[index]!), compared[index])
  );
  yield `<?xml version="1.0" encoding="UTF-8"?>\n`;
  const name = sources[0]!.run.testName;
  yield `<testsuites${xmlAttributes({ name, ...countAttributes(addCounts(counts)) })}>\n`;
  for (const [index, source] of sources.entries()) {
    const prefix = prefixes[index]!;
    const numbers = allNumbers[index]!;
    if (source.run.status !== "completed") yield writeEndedEarly(source, numbers, prefix);
    yield* writeSuites(source, numbers, prefix);
    yield compared[index]?.xml ?? "";
  }
  yield "</testsuites>\n";
}

/** A run that ended early has an error more. */
function countWithEnd({ status }: ExportSource["run"], numbers: Counts): Counts {
  if (status === "completed") return numbers;
  return { ...numbers, turns: numbers.turns + 1, failed: numbers.failed + 1 };
}

function withComparison(counts: Counts, compared: ComparisonSuite | undefined): Counts {
  if (!compared) return counts;
  return {
    ...counts,
    turns: counts.turns + compared.tests,
    below: counts.below + compared.failures,
    failed: counts.failed + compared.errors,
  };
}

function addCounts(all: Counts[]): Counts {
  const sum = (name: keyof Counts) => all.reduce((total, counts) => total + counts[name], 0);
  return {
    turns: sum("turns"),
    passed: sum("passed"),
    below: sum("below"),
    failed: sum("failed"),
    missing: sum("missing"),
    unscored: sum("unscored"),
    latencyMs: sum("latencyMs"),
  };
}

/** Krippendorff's alpha; what cannot be computed is left out. */
function agreementProperties({ agreement }: ExportSource): Record<string, number> {
  const alphas = {
    agreement_of_people: agreement?.people.alpha_interval,
    agreement_with_people: agreement?.judge?.alpha_interval,
  };
  return Object.fromEntries(
    Object.entries(alphas).flatMap(([name, alpha]) =>
      typeof alpha === "number" ? [[name, alpha]] : []
    ),
  );
}

/** How many replies say what their references say, by label. */
function labelProperties({ agreements = {} }: TurnCounts): Record<string, number> {
  return Object.fromEntries(
    Object.entries(agreements).map(([label, turns]) => [`agreement_${label}`, turns]),
  );
}

function writeEndedEarly({ run }: ExportSource, { turns }: RunNumbers, prefix: string): string {
  const counts = { tests: 1, failures: 0, errors: 1, skipped: 0, time: seconds(0) };
  const message = `${run.status} after ${turns} of ${countedTurns(run)} turns`;
  const name = `${prefix}the run`;
  return `  <testsuite${xmlAttributes({ name, ...counts })}>\n` +
    `    <testcase${xmlAttributes({ classname: name, name: "comes to its end" })}>\n` +
    `      <error${xmlAttributes({ message, type: "ended_early" })}/>\n` +
    "    </testcase>\n  </testsuite>\n";
}

async function* writeSuites(
  source: ExportSource,
  { scenarios, turnCounts, historyGap, statistics }: RunNumbers,
  prefix: string,
) {
  const { run, threshold } = source;
  const timestamp = new Date(run.createdAt).toISOString().slice(0, 19);
  const properties = {
    run_id: run.id,
    model_id: run.modelId,
    endpoint: withoutQuery(run.endpoint),
    threshold,
    overall: showMean(statistics[HEADLINE]),
    ...(run.request.dataset !== undefined && { dataset: run.request.dataset }),
    ...gapProperties(historyGap),
    ...costProperties(turnCounts),
    ...agreementProperties(source),
    ...labelProperties(turnCounts),
  };
  let open: number | undefined;
  for await (const turn of source.reader.turns(run.id)) {
    if (isAskedTheSecondWay(turn.result)) continue; // it explains the others, and is no test
    const scenario = scenarios[turn.scenario]!;
    if (open !== turn.scenario) {
      if (open !== undefined) yield "  </testsuite>\n";
      open = turn.scenario;
      const name = prefix + scenario.label;
      const attributes = { name, ...countAttributes(scenario), timestamp };
      yield `  <testsuite${xmlAttributes(attributes)}>\n    <properties>\n`;
      for (const [name, value] of Object.entries(properties)) {
        yield `      <property${xmlAttributes({ name, value })}/>\n`;
      }
      yield "    </properties>\n";
    }
    yield writeCase(turn, { suite: prefix + scenario.label, threshold });
  }
  if (open !== undefined) yield "  </testsuite>\n";
}

/** The history gap of the headline, if the run has both histories. */
function gapProperties(historyGap: RunNumbers["historyGap"] | undefined): Record<string, number> {
  const gap = historyGap?.[HEADLINE]?.gap;
  return gap === undefined ? {} : { [`${HEADLINE}_history_gap`]: gap };
}

/** What the whole run cost, as far as that is known. */
function costProperties({ cost, judge_cost }: TurnCounts): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ run_cost: cost, run_judge_cost: judge_cost }).flatMap(([name, sum]) =>
      typeof sum?.amount === "number" ? [[name, `${sum.amount} ${sum.currency}`]] : []
    ),
  );
}

function countAttributes({ turns, below, failed, missing, unscored, latencyMs }: Counts) {
  return {
    tests: turns,
    failures: below,
    errors: failed + missing,
    skipped: unscored,
    time: seconds(latencyMs),
  };
}

function writeCase(
  { attempt, turn, result }: StoredTurn,
  { suite, threshold }: { suite: string; threshold: number },
): string {
  const open = `    <testcase${
    xmlAttributes({
      classname: suite,
      name: `turn ${turn + 1}: ${result.id} (attempt ${attempt + 1})`,
      time: seconds(result.latency_ms),
    })
  }`;
  const detail = [writeDetail(result, threshold), writeOutput(result, threshold)]
    .filter(Boolean).map((element) => `      ${element}\n`).join("");
  return detail === "" ? `${open}/>\n` : `${open}>\n${detail}    </testcase>\n`;
}

function writeDetail(result: InteractionResult, threshold: number): string {
  switch (outcomeOf(result, threshold)) {
    case "passed":
      return "";
    case "unscored":
      return `<skipped${xmlAttributes({ message: "no score applies to this turn" })}/>`;
    case "failed": {
      const { code, detail } = result.error!;
      return `<error${xmlAttributes({ message: detail, type: code })}>${
        xmlText(`asked: ${shorten(result.user_message, SHOWN_CHARACTERS, "…")}`)
      }</error>`;
    }
    case "missing": {
      const reasons = Object.entries(result.missing_scores!)
        .map(([score, reason]) => `${score}: ${reason}`);
      return `<error${
        xmlAttributes({ message: `${HEADLINE} is missing`, type: "missing_score" })
      }>${xmlText(reasons.join("\n"))}</error>`;
    }
    case "below": {
      const { message, type } = describeFailure(result, threshold);
      const lines = [
        `asked: ${shorten(result.user_message, SHOWN_CHARACTERS, "…")}`,
        `expected: ${shorten(referencesOf(result).join(" | "), SHOWN_CHARACTERS, "…")}`,
        `answered: ${shorten(result.agent_reply, SHOWN_CHARACTERS, "…")}`,
        ...describeContradiction(result),
        ...describeTools(result),
        ...describeFailedChecks(result),
        `scores: ${
          Object.entries(result.scores).filter(([, value]) => value !== null)
            .map(([name, value]) => `${name} ${showScore(name, value, threshold)}`).join(", ")
        }`,
      ];
      return `<failure${xmlAttributes({ message, type })}>${xmlText(lines.join("\n"))}</failure>`;
    }
  }
}

function describeFailure(result: InteractionResult, threshold: number) {
  const barring = result.check_results?.filter(isBarring) ?? [];
  if (barring.length > 0) {
    const names = barring.map(({ name }) => name).join(", ");
    return { type: "required_check", message: `required checks failed: ${names}` };
  }
  if (hasWrongTools(result)) {
    return { type: "wrong_tools", message: "the tool calls are not those expected" };
  }
  const overall = showScore(HEADLINE, result.scores[HEADLINE], threshold);
  const message = `${HEADLINE} ${overall} is below ${threshold}`;
  return { type: "below_threshold", message };
}

/** What people said of the turn, and which checks a turn that passes does not meet. */
function writeOutput(result: InteractionResult, threshold: number): string {
  const isPassed = outcomeOf(result, threshold) === "passed";
  const lines = [...(isPassed ? describeFailedChecks(result) : []), ...describeGrades(result)];
  return lines.length === 0 ? "" : `<system-out>${xmlText(lines.join("\n"))}</system-out>`;
}

function describeGrades({ grades = [] }: InteractionResult): string[] {
  return grades.map(({ value, author, label, comment }) =>
    `graded ${value}${author === null ? "" : ` by ${author}`}${label === null ? "" : `: ${label}`}${
      comment ? ` (${shorten(comment, SHOWN_CHARACTERS, "…")})` : ""
    }`
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Only the headline is held against the threshold. */
function showScore(name: string, value: number | null | undefined, threshold: number): number {
  const limit = name === HEADLINE ? threshold : Infinity;
  return roundedBelow(value ?? 0, { limit, digits: 4 });
}
