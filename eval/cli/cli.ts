import { ConfigError } from "../../shared/service/config.ts";
import { AppError } from "../../shared/service/errors.ts";
import { printable } from "../report/text/text_form.ts";
import { asksForHelp, type Command, EXIT, UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";

/** Only the command that runs is loaded: each module takes time. */
const commands: Record<string, () => Promise<Command>> = {
  run: async () => (await import("./commands/run.ts")).run,
  score: async () => (await import("./commands/score.ts")).score,
  rescore: async () => (await import("./commands/rescore.ts")).rescore,
  runs: async () => (await import("./commands/runs.ts")).runs,
  show: async () => (await import("./commands/show.ts")).show,
  compare: async () => (await import("./commands/compare.ts")).compare,
  grades: async () => (await import("./commands/grades.ts")).grades,
  agreement: async () => (await import("./commands/grades.ts")).agreement,
  export: async () => (await import("./commands/export.ts")).exportRun,
  tag: async () => (await import("./commands/runs.ts")).tag,
  leaks: async () => (await import("./commands/leaks.ts")).leaks,
  datasets: async () => (await import("./commands/datasets.ts")).datasets,
  resume: async () => (await import("./commands/resume.ts")).resume,
  backup: async () => (await import("./commands/backup.ts")).backup,
};

async function renderHelp(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands)
      .map(async ([name, load]) => `  ${name.padEnd(11)}${(await load()).summary}\n`),
  );
  return `assay-eval            serve the HTTP API
assay-eval --check    validate the configuration, print a summary, and exit
assay-eval --version  print the version, and exit
assay-eval --help     print this help, and exit
assay-eval COMMAND    run a command without a server, on the same storage (EVAL_DATA)

${lines.join("")}
"assay-eval COMMAND --help" explains a command. Service and commands are configured by
environment variables, also from .env in the working folder; "assay-eval --check --help"
lists them.

Example:
  assay-eval run batch.json --endpoint http://localhost:11434 --model llama3.2
`;
}

/** Runs the command line. Resolves with the exit code; errors for people are written, not thrown. */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  const [name = ""] = args;
  try {
    return await execute(args, context);
  } catch (thrown) {
    // The first error says more than the one of closing the database after it.
    const error = thrown instanceof SuppressedError ? thrown.suppressed : thrown;
    if (error instanceof UsageError) {
      const command = isHelp(name) ? "" : `${name} `;
      const hint = `see "assay-eval ${command}--help"`;
      context.err.write(`assay-eval ${name}: ${printable(error.message)}\n${hint}\n`);
    } else if (error instanceof AppError || error instanceof ConfigError) {
      context.err.write(`assay-eval ${name}: ${printable(error.message)}\n`);
    } else throw error;
    return EXIT.error;
  }
}

async function execute(args: string[], context: CliContext): Promise<number> {
  const [name = "", ...rest] = args;
  if (isHelp(name)) {
    context.out.write(await renderHelp());
    return EXIT.passed;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) {
    context.err.write(`assay-eval: unknown command "${name}"\n\n${await renderHelp()}`);
    return EXIT.error;
  }
  const command = await load();
  if (asksForHelp(rest)) {
    context.out.write(command.help);
    return EXIT.passed;
  }
  return await command.execute(rest, context);
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h" || argument === "help";
}
