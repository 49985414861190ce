/**
 * `deno task tables`: writes what follows from the source. Of settings that is `.env.example`, the
 * tables of `docs/configuration.md`, which hold what a setting means, and the `--allow-env` of both
 * services; of tools, scores, formats and views it is a table in the documents.
 */
import { AgentConfig, INHERITED } from "../agent/config.ts";
import { createTools, TOOL_NAMES } from "../agent/core/tools/mod.ts";
import { pairScorers } from "../eval/score/pair_scorers.ts";
import { describeScores } from "../eval/score/scorers.ts";
import { createScoringPorts } from "../eval/score/wiring.ts";
import { EvalConfig } from "../eval/config.ts";
import { FORMATS } from "../eval/test/datasets/detect.ts";
import { exportFormats } from "../eval/report/export_formats.ts";
import { trainingForms } from "../eval/report/training/forms.ts";
import { VIEWS } from "../eval/pages/views.tsx";
import { commonVariables, parseConfig } from "../shared/service/config.ts";

const ROOT = new URL("../", import.meta.url);
const PAGE = "docs/configuration.md";
const WIDTH = 100;

const own = (schema: typeof AgentConfig | typeof EvalConfig) =>
  Object.keys(schema.shape).filter((name) => !(name in commonVariables));

const SECTIONS = [
  { heading: "Both services", schema: AgentConfig, names: Object.keys(commonVariables) },
  { heading: "assay-agent", schema: AgentConfig, names: own(AgentConfig) },
  { heading: "assay-eval", schema: EvalConfig, names: own(EvalConfig) },
];

/** Each file with the text that it should have. */
export function writeTables(): Map<string, string> {
  return new Map([...writeSettings(), ...writeLists()]);
}

/** The tables of names with what they are; the heads find them in their pages. */
function writeLists(): [path: string, text: string][] {
  const tools = createTools({ AGENT_TOOLS: TOOL_NAMES, TAVILY_BASE_URL: "https://localhost" });
  const scores = describeScores(createScoringPorts(parseConfig(EvalConfig, {}), fetch));
  const lists = [
    { path: "docs/agent-api.md", head: ["tool", "what it does"], entries: tools.map(describe) },
    {
      path: "docs/scores-and-statistics.md",
      head: ["score", "what it is"],
      entries: scores
        .filter(({ name }) => !pairScorers.some((pair) => pair.name === name))
        .map(({ name, definition }) => [name, definition.split("; ")[0]!]),
    },
    {
      path: "docs/scores-and-statistics.md",
      head: ["score", "of words and characters", "as computed by"],
      entries: pairScorers.map(({ name, definition, equals = "" }) => [name, definition, equals]),
    },
    {
      path: "docs/eval-api.md",
      head: ["`format`", "content"],
      entries: exportFormats.map(({ name, about }) => [name, about]),
    },
    {
      path: "docs/improve.md",
      head: ["training", "line"],
      entries: trainingForms.map(({ name, about }) => [name, about]),
    },
    {
      path: "docs/command-line.md",
      head: ["format", "file"],
      entries: FORMATS.map(({ name, about }) => [name, about]),
    },
    {
      path: "docs/dashboard.md",
      head: ["address", "what it shows"],
      entries: VIEWS.map(({ path, shows }) => [path.replaceAll(/:(\w+)/g, "{$1}"), shows]),
    },
  ];
  const pages = new Map<string, string>();
  for (const { path, head, entries } of lists) {
    const table = writeTable([head, ...entries.map(([name, ...rest]) => [`\`${name}\``, ...rest])]);
    const old = new RegExp(`^\\| ${head.join(" +\\| ")} +\\|\\n(?:\\|.*\\n)+`, "m");
    const page = pages.get(path) ?? read(path);
    if (!old.test(page)) throw new Error(`${path} needs a table | ${head.join(" | ")} |`);
    pages.set(path, page.replace(old, () => table));
  }
  return [...pages];
}

/** The rest of a description is for the model. */
function describe({ name, description }: { name: string; description: string }): [string, string] {
  return [name, description.split(/(?<=\.) /)[0]!];
}

/** Throws for a setting that no table explains. */
function writeSettings(): [path: string, text: string][] {
  const page = read(PAGE);
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\| .*? +\| (.*?) +\|$/gm)];
  const meanings = new Map(rows.map(([, name, meaning]) => [name, meaning!]));
  const explain = (name: string) => {
    const meaning = meanings.get(name);
    if (meaning === undefined) {
      throw new Error(`${PAGE} needs a row for ${name}: | \`${name}\` | unset | what it means |`);
    }
    return meaning;
  };
  const sections = SECTIONS.map(({ heading, schema, names }) => {
    const defaults = parseConfig(schema, {}) as Record<string, unknown>;
    const settings = names.map((name) => ({
      name,
      // A text of several lines.
      value: name === "AGENT_SYSTEM_PROMPT" ? "" : [defaults[name]].flat().join(","),
      meaning: explain(name),
    }));
    return { heading, settings };
  });
  let text = page;
  for (const { heading, settings } of sections) {
    const table = writeTable([
      ["variable", "default", "meaning"],
      ...settings.map(({ name, value, meaning }) => [
        `\`${name}\``,
        value !== "" ? `\`${value}\`` : name === "AGENT_SYSTEM_PROMPT" ? "a short prompt" : "unset",
        meaning,
      ]),
    ]);
    text = text.replace(new RegExp(`(?<=^## ${heading}\\n\\n)(?:\\|.*\\n)+`, "m"), () => table);
  }
  const example = [
    "# Copy to .env and set what you need. Every variable is optional; what stands here is its default.\n" +
    "# The process's own environment wins over this file.\n",
    ...sections.flatMap(({ heading, settings }) => [
      `# --- ${heading} ${"-".repeat(WIDTH - heading.length - 7)}\n`,
      ...settings.map(({ name, value, meaning }) => `${comment(meaning)}${name}=${value}\n`),
    ]),
  ].join("\n");
  const permitted = read("deno.json").replaceAll(
    /--allow-env=\S+( .*?(agent|eval)\/main\.ts")/g,
    (_, rest, service) =>
      `--allow-env=${
        service === "agent"
          ? patterns([...Object.keys(AgentConfig.shape), ...INHERITED])
          : patterns(Object.keys(EvalConfig.shape))
      }${rest}`,
  );
  return [[PAGE, text], [".env.example", example], ["deno.json", permitted]];
}

function writeTable(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
  const [head, ...rest] = rows;
  return [head!, widths.map((width) => "-".repeat(width)), ...rest].map(line).join("");
}

/** What a setting means, without links, in lines of a comment. */
function comment(meaning: string): string {
  const words = meaning.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").split(" ");
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last && last.length + word.length < WIDTH) lines.push(`${lines.pop()} ${word}`);
    else lines.push(`# ${word}`);
  }
  return `${lines.join("\n")}\n`;
}

/** The names, those of one family as a pattern: `AGENT_*`. */
function patterns(names: string[]): string {
  const families = Map.groupBy(names, (name) => name.split("_")[0]!);
  return [...families].map(([family, members]) =>
    members.length > 1 && members.every((name) => name.startsWith(`${family}_`))
      ? `${family}_*`
      : members.join(",")
  ).sort().join(",");
}

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

if (import.meta.main) {
  for (const [path, text] of writeTables()) Deno.writeTextFileSync(new URL(path, ROOT), text);
}
