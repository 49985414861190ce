import { formatP, roundedBelow } from "../../test/rounding.ts";
import { shorten } from "../../../shared/service/text.ts";
import { referencesOf } from "../../score/references.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { isRegression } from "../../figures/verdict.ts";
import { withoutQuery } from "../../ask/endpoint_address.ts";
import { causesOf, checkText } from "../../figures/causes.ts";
import { HEADLINE, outcomeOf } from "../../figures/passing.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { StoredTurn } from "../../store/turn_record.ts";
import type { ExportFormat, ExportSource } from "../format.ts";
import { type Counts, readNumbers, type RunNumbers } from "../text/run_numbers.ts";
import { readScenarioCases, type ScenarioCase } from "../text/scenario_cases.ts";
import { showScore } from "../text/text_form.ts";
import { xmlAttributes, xmlText } from "./xml.ts";

/** Characters of a reply that is shown with a failure; other formats have whole replies. */
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
  about: "JUnit XML: one suite per scenario, one case per turn of an attempt",
  extension: "xml",
  contentType: "application/xml; charset=utf-8",
  uses: ["threshold", "threshold of each"],
  write: (source) => writeReport([source]),
  /** The suites of all runs; their names begin with that of the model. */
  async *writeComparison({ runs }) {
    yield* writeReport(await runs());
  },
};

/** The same with one case per scenario. One that passes in some attempts has `flakyFailure`. */
export const junitScenarios: ExportFormat = {
  ...junit,
  name: "junit-scenarios",
  about: "JUnit XML: one case per scenario; what passes only sometimes has `flakyFailure`",
  extension: "scenarios.xml",
  write: (source) => writeReport([source], scenarioSuite),
  async *writeComparison({ runs }) {
    yield* writeReport(await runs(), scenarioSuite);
  },
};

async function scenarioSuite(source: ExportSource, prefix: string): Promise<Suite> {
  const cases = (await readScenarioCases(source)).map(({ name, standing, attempts }) => {
    const causes = attempts.filter((attempt) => attempt.causes.length > 0).map((attempt) => ({
      message: `attempt ${attempt.attempt} of ${attempts.length}`,
      text: attempt.causes.join("\n"),
    }));
    const element = ELEMENTS[standing];
    const time = seconds(attempts.reduce((sum, { ms }) => sum + ms, 0));
    const details = standing === "unscored"
      ? [`<skipped${xmlAttributes({ message: "no score applies to this scenario" })}/>`]
      : causes.map(({ message, text }) =>
        `<${element}${xmlAttributes({ message, type: standing })}>${xmlText(text)}</${element}>`
      );
    // Readers take the first failure of a case; the others would be counted again.
    return {
      standing,
      time,
      name,
      details: standing === "sometimes" ? details : details.slice(0, 1),
    };
  });
  const count = (standing: ScenarioCase["standing"]) =>
    cases.filter((one) => one.standing === standing).length;
  const name = `${prefix}${source.run.testName}`;
  const counts = {
    tests: cases.length,
    failures: count("failed"),
    errors: count("error"),
    skipped: count("unscored"),
    ms: cases.reduce((sum, { time }) => sum + Number(time) * 1000, 0),
  };
  const written = cases.map(({ name: scenario, time, details }) =>
    writeCase({ classname: name, name: scenario, time }, details)
  );
  const open = `  <testsuite${xmlAttributes({ name, ...attributesOf(counts) })}>\n`;
  return { counts, xml: `${open}${written.join("")}  </testsuite>\n` };
}

const ELEMENTS: Record<ScenarioCase["standing"], string> = {
  passed: "",
  unscored: "skipped",
  sometimes: "flakyFailure",
  failed: "failure",
  error: "error",
};

/** One report of several runs, of which there is at least one. Those of a group have its names. */
async function* writeReport(
  sources: ExportSource[],
  summarise?: typeof scenarioSuite,
): AsyncGenerator<string> {
  const reports = [];
  for (const source of sources) {
    const { run } = source;
    const prefix = sources.length > 1 ? `${run.group?.name ?? run.modelId} / ` : "";
    const numbers = await readNumbers(source);
    const ended = run.status === "completed" ? [] : [endedEarly(run, numbers, prefix)];
    const summary = await summarise?.(source, prefix);
    reports.push({ source, prefix, numbers, ended, summary, compared: comparisonSuites(source) });
  }
  yield `<?xml version="1.0" encoding="UTF-8"?>\n`;
  const counts = reports.flatMap(({ numbers, ended, summary, compared }) => [
    summary?.counts ?? countsOf(numbers),
    ...[...ended, ...compared].map((suite) => suite.counts),
  ]);
  const name = sources[0]!.run.testName;
  yield `<testsuites${xmlAttributes({ name, ...attributesOf(addCounts(counts)) })}>\n`;
  for (const { source, prefix, numbers, ended, summary, compared } of reports) {
    for (const { xml } of ended) yield xml;
    if (summary) yield summary.xml;
    else yield* writeSuites(source, numbers, prefix);
    for (const { xml } of compared) yield xml;
  }
  yield "</testsuites>\n";
}

const COUNTED = ["tests", "failures", "errors", "skipped", "ms"] as const;
/** What a suite says of its cases. */
type SuiteCounts = Record<(typeof COUNTED)[number], number>;

interface Suite {
  counts: SuiteCounts;
  xml: string;
}

function countsOf({ turns, below, failed, missing, unscored, latencyMs: ms }: Counts): SuiteCounts {
  return { tests: turns, failures: below, errors: failed + missing, skipped: unscored, ms };
}

function addCounts(all: SuiteCounts[]): SuiteCounts {
  const sum = (name: keyof SuiteCounts) => all.reduce((total, counts) => total + counts[name], 0);
  return Object.fromEntries(COUNTED.map((name) => [name, sum(name)])) as SuiteCounts;
}

function attributesOf({ ms, ...counts }: SuiteCounts) {
  return { ...counts, time: seconds(ms) };
}

/** Why a case that is not a turn failed. */
interface Fault {
  kind: "failure" | "error";
  type: string;
  message: string;
}

/** A suite of such cases. */
function createSuite(
  suite: string,
  cases: { name: string; fault?: Fault | undefined }[],
): Suite {
  const count = (kind: Fault["kind"]) => cases.filter(({ fault }) => fault?.kind === kind).length;
  const [failures, errors] = [count("failure"), count("error")];
  const counts = { tests: cases.length, failures, errors, skipped: 0, ms: 0 };
  const written = cases.map(({ name, fault }) => {
    if (!fault) return writeCase({ classname: suite, name }, []);
    const { kind, ...attributes } = fault;
    return writeCase({ classname: suite, name }, [`<${kind}${xmlAttributes({ ...attributes })}/>`]);
  });
  const open = `  <testsuite${xmlAttributes({ name: suite, ...attributesOf(counts) })}>\n`;
  return { counts, xml: `${open}${written.join("")}  </testsuite>\n` };
}

function endedEarly(run: StoredRun, { turns }: RunNumbers, prefix: string) {
  const message = `${run.status} after ${turns} of ${run.totalTurns} turns`;
  const fault: Fault = { kind: "error", type: "ended_early", message };
  return createSuite(`${prefix}the run`, [{ name: "comes to its end", fault }]);
}

/** The comparison with a baseline: the score that decides, and new failures. */
function comparisonSuites({ comparison }: ExportSource) {
  if (!comparison) return [];
  const { result, isRequired, newFailures = [] } = comparison;
  const newFailure: Fault = {
    kind: "failure",
    type: "new_failure",
    message: "passed in every attempt of the baseline and in none now",
  };
  return [createSuite(`compared with ${result.runs[0]!.run_id}`, [
    { name: result.decided_by, fault: describeVerdict(result, isRequired) },
    ...newFailures.map((name) => ({ name, fault: newFailure })),
  ])];
}

/** A regression is a `failure`, as it is for the command line. */
function describeVerdict(
  { decided_by, pairs }: Comparison,
  isRequired = false,
): Fault | undefined {
  const pair = pairs![0]!;
  const { reason } = pair;
  const score = pair.scores[decided_by];
  if (isRegression(pair)) {
    const means = score && [score.baseline, score.candidate].map(showScore).join(" to ");
    const message = `${decided_by} fell from ${means} (${reason ?? `p ${formatP(score?.p ?? 1)}`})`;
    return { kind: "failure", type: "regressed", message };
  }
  if (score || !isRequired) return undefined;
  return { kind: "error", type: "not_comparable", message: reason ?? "" };
}

/** What a suite says of its run, as far as it is known. */
function propertiesOf(
  { run, threshold, agreement }: ExportSource,
  { cost, judge_cost, agreements = {}, statistics }: RunNumbers,
): Record<string, string | number | null | undefined> {
  const showCost = (sum: typeof cost) =>
    typeof sum?.amount === "number" ? `${sum.amount} ${sum.currency}` : undefined;
  return {
    run_id: run.id,
    model_id: run.modelId,
    endpoint: run.endpoint ? withoutQuery(run.endpoint) : undefined,
    threshold,
    overall: showScore(statistics[HEADLINE]?.mean),
    dataset: run.request.dataset,
    run_cost: showCost(cost),
    run_judge_cost: showCost(judge_cost),
    // Krippendorff's alpha
    agreement_of_people: agreement?.people.alpha,
    agreement_with_people: agreement?.judge?.alpha,
    ...Object.fromEntries(
      Object.entries(agreements).map(([label, turns]) => [`agreement_${label}`, turns]),
    ),
  };
}

async function* writeSuites(source: ExportSource, numbers: RunNumbers, prefix: string) {
  const { run, threshold } = source;
  const timestamp = new Date(run.createdAt).toISOString().slice(0, 19);
  const properties = Object.entries(propertiesOf(source, numbers)).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [{ name, value }]
  );
  let open: number | undefined;
  for await (const turn of source.reader.turns(run.id)) {
    const scenario = numbers.scenarios[turn.scenario]!;
    if (open !== turn.scenario) {
      if (open !== undefined) yield "  </testsuite>\n";
      open = turn.scenario;
      const name = prefix + scenario.label;
      const attributes = { name, ...attributesOf(countsOf(scenario)), timestamp };
      yield `  <testsuite${xmlAttributes(attributes)}>\n    <properties>\n`;
      for (const property of properties) yield `      <property${xmlAttributes(property)}/>\n`;
      yield "    </properties>\n";
    }
    yield writeTurn(turn, { suite: prefix + scenario.label, threshold });
  }
  if (open !== undefined) yield "  </testsuite>\n";
}

function writeTurn(
  { attempt, turn, result }: StoredTurn,
  { suite, threshold }: { suite: string; threshold: number },
): string {
  const details = [writeDetail(result, threshold), writeOutput(result, threshold)].filter(Boolean);
  return writeCase({
    classname: suite,
    name: `turn ${turn + 1}: ${result.id} (attempt ${attempt + 1})`,
    ...(result.latency_ms !== null && { time: seconds(result.latency_ms) }),
  }, details);
}

function writeCase(attributes: Record<string, string>, details: string[]): string {
  const open = `    <testcase${xmlAttributes(attributes)}`;
  if (details.length === 0) return `${open}/>\n`;
  return `${open}>\n${details.map((xml) => `      ${xml}\n`).join("")}    </testcase>\n`;
}

function writeDetail(result: InteractionResult, threshold: number): string {
  const all = causesOf(result, threshold);
  const causes = {
    message: all.map(({ text }) => text).join("; "),
    type: result.error?.code ?? all[0]?.kind ?? "",
  };
  switch (outcomeOf(result, threshold)) {
    case "passed":
      return "";
    case "unscored":
      return `<skipped${xmlAttributes({ message: "no score applies to this turn" })}/>`;
    case "failed":
    case "missing":
      return `<error${xmlAttributes(causes)}>${
        xmlText(`asked: ${shorten(result.user_message, SHOWN_CHARACTERS, "…")}`)
      }</error>`;
    case "below": {
      const lines = [
        `asked: ${shorten(result.user_message, SHOWN_CHARACTERS, "…")}`,
        `expected: ${shorten(referencesOf(result).join(" | "), SHOWN_CHARACTERS, "…")}`,
        `answered: ${shorten(result.agent_reply, SHOWN_CHARACTERS, "…")}`,
        `scores: ${
          Object.entries(result.scores).filter(([, value]) => value !== null)
            .map(([name, value]) => `${name} ${showBelow(name, value, threshold)}`).join(", ")
        }`,
      ];
      return `<failure${xmlAttributes(causes)}>${xmlText(lines.join("\n"))}</failure>`;
    }
  }
}

/** What people said of the turn, and which checks a turn that passes does not meet. */
function writeOutput(result: InteractionResult, threshold: number): string {
  const isPassed = outcomeOf(result, threshold) === "passed";
  const unmet = result.check_results?.filter(({ value }) => value === 0) ?? [];
  const lines = [...(isPassed ? unmet.map(checkText) : []), ...describeGrades(result)];
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
function showBelow(name: string, value: number | null | undefined, threshold: number): number {
  const limit = name === HEADLINE ? threshold : Infinity;
  return roundedBelow(value ?? 0, { limit, digits: 4 });
}
