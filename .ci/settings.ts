/**
 * `deno task settings`: writes `.env.example`, the tables of `docs/configuration.md` and the
 * `--allow-env` of both services from their schemas. The tables hold what a setting means.
 */
import { AgentConfig, INHERITED } from "../agent/config.ts";
import { EvalConfig } from "../eval/config.ts";
import { commonVariables, parseConfig } from "../shared/config/config.ts";

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

/** Each file with the text that it should have. Throws for a setting that no table explains. */
export function writeSettings(): Map<string, string> {
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
  return new Map([[PAGE, text], [".env.example", example], ["deno.json", permitted]]);
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
  for (const [path, text] of writeSettings()) Deno.writeTextFileSync(new URL(path, ROOT), text);
}
