import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { AgentConfig } from "../../agent/config.ts";
import { EvalConfig } from "../../eval/config.ts";
import { LeftOutReason } from "../../eval/figures/comparison.ts";
import { createMetrics } from "../../shared/service/ops/metrics.ts";
import { JudgeResult } from "../../eval/test/interaction_result.ts";
import { packagesOfTests, readPackages } from "../fakes/packages.ts";
import { ROOT } from "../fakes/source_files.ts";
import { type Page, readPage } from "./pages.ts";

const configuration = readPage("docs/configuration.md");
const errors = readPage("docs/errors.md");

/** The page's text below a heading, up to the next one of its level or a higher one. */
function sectionOf({ path, text }: Page, heading: string): string {
  const level = heading.match(/^#+/)![0].length;
  const start = text.indexOf(`\n${heading}\n`);
  assert(start >= 0, `${path} has no heading "${heading}"`);
  const rest = text.slice(start + heading.length + 2);
  return rest.split(new RegExp(`^#{1,${level}} `, "m"))[0]!;
}

Deno.test("docs/configuration.md has the largest value of every number that has one", () => {
  const KNOWN = /_MS$|_PORT$/; // one sentence for all times, and what ports are
  for (const schema of [AgentConfig, EvalConfig]) {
    const { properties = {} } = z.toJSONSchema(schema, { unrepresentable: "any" });
    for (const [name, variable] of Object.entries(properties)) {
      const { maximum = Infinity } = typeof variable === "object" ? variable : {};
      if (maximum >= Number.MAX_SAFE_INTEGER || KNOWN.test(name)) continue;
      const [row = ""] = configuration.text.match(new RegExp("^\\| `" + name + "` .*$", "m")) ?? [];
      assert(row.includes(` to ${maximum}`), `${name}: ${maximum}`);
    }
  }
});

Deno.test("docs/limits.md has every variable that sets a limit, and none that is not there", () => {
  const known = Object.keys({ ...AgentConfig.shape, ...EvalConfig.shape });
  const { text } = readPage("docs/limits.md");
  const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map((match) => match[1]!);
  assertEquals(named.filter((name) => !known.includes(name)), []);
  const limits = known.filter((name) => /_MAX_|^MAX_|_TIMEOUT_|_LIMIT$|_GRACE_/.test(name));
  assertEquals(limits.filter((name) => !named.includes(name)), []);
});

/** Every code of `shared/service/errors.ts`; they are a type, so the source is read. */
function errorCodes(): string[] {
  const source = Deno.readTextFileSync(new URL("../../shared/service/errors.ts", import.meta.url));
  const [, union = ""] = source.match(/type ErrorCode =([^;]+);/) ?? [];
  return [...union.matchAll(/"([a-z_]+)"/g)].map((match) => match[1]!);
}

Deno.test("docs/errors.md has every error code, with its status, cause and remedy", () => {
  const codes = errorCodes();
  assert(codes.length > 20);
  const rows = [...sectionOf(errors, "## Codes").matchAll(/^\| `(.+?)` .*$/gm)];
  assertEquals(rows.map((match) => match[1]!).toSorted(), codes.toSorted());
  for (const [row, code] of rows) {
    const [, , status = "", cause, remedy] = row.split("|").map((cell) => cell.trim());
    assert(/^\d{3}(, \d{3})*$/.test(status), `${code} has no status`);
    assert(cause, `${code} has no cause`);
    assert(remedy, `${code} has no remedy`);
  }
});

Deno.test("docs/errors.md has the codes of failed turns, missing grades and comparisons", () => {
  const failure = Deno.readTextFileSync(
    new URL("../../shared/providers/failure.ts", import.meta.url),
  );
  const ofTurns = [...failure.matchAll(/code: "([a-z_]+)"/g)].map((match) => match[1]!);
  assert(ofTurns.length >= 5);
  const turns = sectionOf(errors, "## Failed turns");
  for (const code of new Set(ofTurns)) assert(turns.includes(`\`${code}\``), code);

  const grades = JudgeResult.shape.error.unwrap().options;
  const missing = sectionOf(errors, "## Missing scores");
  for (const code of grades) assert(missing.includes(`\`${code}\``), code);

  const comparisons = sectionOf(errors, "## Left out of a comparison");
  for (const code of LeftOutReason.options) assert(comparisons.includes(`\`${code}\``), code);
});

Deno.test("docs/deploy.md or docs/scale.md has every metric, and none that is not there", async () => {
  const jobs = () => Promise.resolve({ waiting: 0, running: 0, retried: 0 });
  const metrics = createMetrics({ runs: () => 0, workerRestarts: () => new Map(), jobs });
  const known = [...(await metrics.text()).matchAll(/^# HELP (assay_\w+)/gm)].map((match) =>
    match[1]!
  );
  const text = readPage("docs/deploy.md").text + readPage("docs/scale.md").text;
  const named = new Set([...text.matchAll(/`(assay_[a-z_]+[a-z])`/g)].map((match) => match[1]!));
  named.delete("assay_jobs"); // a schema of the database
  assertEquals([...named].toSorted(), known.toSorted());
});

Deno.test("docs/architecture.md says why each dependency is there", () => {
  const table = sectionOf(readPage("docs/architecture.md"), "### Why these dependencies");
  const packages = [...readPackages(new URL("deno.json", ROOT)), ...packagesOfTests()]
    .map(({ name }) => name);
  const missing = packages.filter((name) => {
    return !["deno-std", "dotenv"].includes(name) && !table.includes(`\`${name}\``);
  });
  assertEquals(missing, []);
});
