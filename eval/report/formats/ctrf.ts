import denoJson from "../../../deno.json" with { type: "json" };
import { GIVEN_REPLIES, withoutQuery } from "../../ask/endpoint_address.ts";
import type { ExportFormat, ExportSource } from "../format.ts";
import { readScenarioCases, type ScenarioCase } from "../text/scenario_cases.ts";

/** CTRF's words; a scenario that passes in some attempts is a passed test that is flaky. */
const STATUS: Record<ScenarioCase["standing"], "passed" | "failed" | "skipped"> = {
  passed: "passed",
  sometimes: "passed",
  failed: "failed",
  error: "failed",
  unscored: "skipped",
};

/** The Common Test Report Format: one test per scenario, its attempts as retries. */
export const ctrf: ExportFormat = {
  name: "ctrf",
  about: "Common Test Report Format (JSON): one test per scenario, its attempts as retries",
  extension: "ctrf.json",
  contentType: "application/json",
  uses: ["threshold", "threshold of each"],
  write: (source) => writeReport([source]),
  async *writeComparison({ runs }) {
    yield* writeReport(await runs());
  },
};

async function* writeReport(sources: ExportSource[]): AsyncGenerator<string> {
  const tests = (await Promise.all(sources.map(testsOf))).flat();
  const { run } = sources[0]!;
  const count = (status: string) => tests.filter((test) => test.status === status).length;
  const ends = sources.map(({ run }) => run.finishedAt ?? run.createdAt);
  const results = {
    tool: { name: "assay-eval", version: denoJson.version },
    summary: {
      tests: tests.length,
      passed: count("passed"),
      failed: count("failed"),
      skipped: count("skipped"),
      pending: 0,
      other: 0,
      flaky: tests.filter(({ flaky }) => flaky).length,
      start: Math.min(...sources.map(({ run }) => run.createdAt)),
      stop: Math.max(...ends),
    },
    tests,
    environment: {
      testEnvironment: run.endpoint ? withoutQuery(run.endpoint) : GIVEN_REPLIES,
      extra: { model_id: run.modelId },
    },
  };
  yield `${JSON.stringify({ reportFormat: "CTRF", specVersion: "1.0.0", results }, null, 2)}\n`;
}

async function testsOf(source: ExportSource) {
  const { run } = source;
  const tests = (await readScenarioCases(source)).map(({ name, standing, attempts }) => {
    const causes = attempts.flatMap((attempt) => attempt.causes);
    return {
      name,
      status: STATUS[standing],
      duration: attempts.reduce((sum, { ms }) => sum + ms, 0),
      suite: [run.testName, run.modelId],
      flaky: standing === "sometimes",
      retries: attempts.length - 1,
      ...(causes.length > 0 && { message: causes.join("\n") }),
    };
  });
  if (run.status === "completed") return tests;
  const early = {
    name: "the run comes to its end",
    status: "failed" as const,
    duration: 0,
    suite: [run.testName, run.modelId],
    flaky: false,
    retries: 0,
    message: `it is ${run.status}`,
  };
  return [...tests, early];
}
