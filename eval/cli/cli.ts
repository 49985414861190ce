import { ConfigError } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import { agreement } from "./agreement.ts";
import { backup } from "./backup.ts";
import { type Command, EXIT, UsageError } from "./command.ts";
import { compare } from "./compare.ts";
import { datasets } from "./datasets.ts";
import { exportRun } from "./export.ts";
import { groups } from "./groups.ts";
import { grades } from "./grades.ts";
import { power } from "./power.ts";
import { resume } from "./resume.ts";
import { run } from "./run.ts";
import { runs } from "./runs.ts";
import { show } from "./show.ts";
import { tag } from "./tag.ts";
import type { CliContext } from "./context.ts";

const commands: Record<string, Command> = {
  run,
  runs,
  groups,
  show,
  compare,
  power,
  grades,
  agreement,
  export: exportRun,
  tag,
  datasets,
  resume,
  backup,
};

const HELP = `assay-eval            serve the HTTP API
assay-eval --check    validate the configuration, print a summary, and exit
assay-eval --version  print the version, and exit
assay-eval COMMAND    run a command without a server, on the same storage (EVAL_DATA)

${
  Object.entries(commands)
    .map(([name, { summary }]) => `  ${name.padEnd(11)}${summary}\n`).join("")
}
"assay-eval COMMAND --help" explains a command.

Example:
  assay-eval run batch.json --endpoint http://localhost:11434 --model llama3.2
`;

/** Runs the command line. Resolves with the exit code; errors for people are written, not thrown. */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  const [name = "", ...rest] = args;
  if (isHelp(name)) {
    context.out.write(HELP);
    return EXIT.passed;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    context.err.write(`assay-eval: unknown command "${name}"\n\n${HELP}`);
    return EXIT.error;
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    context.out.write(command.help);
    return EXIT.passed;
  }
  try {
    return await command.execute(rest, context);
  } catch (error) {
    if (error instanceof UsageError) {
      const hint = `see "assay-eval ${name} --help"`;
      context.err.write(`assay-eval ${name}: ${error.message}\n${hint}\n`);
    } else if (error instanceof AppError || error instanceof ConfigError) {
      context.err.write(`assay-eval ${name}: ${error.message}\n`);
    } else throw error;
    return EXIT.error;
  }
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h" || argument === "help";
}
