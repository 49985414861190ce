import { ConfigError } from "../../shared/service/config.ts";
import { AppError } from "../../shared/service/errors.ts";
import { Refused } from "./api.ts";
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
assay-eval COMMAND    run a command: by the service at --url URL, by the one that has
                      EVAL_DATA open, or without one, on EVAL_DATA itself

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
    const isOfUser = error instanceof Refused && [400, 404].includes(error.status);
    if (error instanceof UsageError || isOfUser) {
      const command = isHelp(name) ? "" : `${name} `;
      const hint = `see "assay-eval ${command}--help"`;
      context.err.write(`assay-eval ${name}: ${printable((error as Error).message)}\n${hint}\n`);
    } else if ([AppError, ConfigError, Refused].some((known) => error instanceof known)) {
      context.err.write(`assay-eval ${name}: ${printable((error as Error).message)}\n`);
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
  const { args: own, url } = takeUrl(rest);
  return await command.execute(own, { ...context, url });
}

/** Every command takes `--url`. */
function takeUrl(args: string[]): { args: string[]; url: string | undefined } {
  const index = args.findIndex((one) => /^--url(=|$)/.test(one));
  if (index < 0) return { args, url: undefined };
  const [, given] = /^--url=(.*)$/.exec(args[index]!) ?? [];
  const url = given ?? args[index + 1];
  if (!/^https?:$/.test(URL.parse(url ?? "")?.protocol ?? "")) {
    throw new UsageError("--url must be an http or https address of a service");
  }
  const rest = args.toSpliced(index, given === undefined ? 2 : 1);
  return { args: rest, url: url!.replace(/\/+$/, "") };
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h" || argument === "help";
}
