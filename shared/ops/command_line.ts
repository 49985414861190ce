import { describeVersion } from "./version.ts";

/** What a service is asked to do by its arguments. */
type Action = "serve" | "check" | "help" | "version" | { unknown: string };

const ACTIONS: Record<string, Action> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-V": "version",
  "--check": "check",
};

/** Without an argument the service serves. There is one action at a time, or help for it. */
export function parseAction(args: string[]): Action {
  const actions = args.map((arg) => (Object.hasOwn(ACTIONS, arg) ? ACTIONS[arg] : undefined));
  if (actions.includes("help")) return "help";
  const [first = "serve"] = actions;
  const unknown = actions[0] === undefined ? args[0] : args[1];
  return unknown === undefined ? first : { unknown };
}

/** The text of `--help`; `variables` are those that the service reads. */
export function renderHelp({ name, variables }: { name: string; variables: string[] }): string {
  return [
    `${name}            serve`,
    `${name} --check    validate and print the configuration, and exit`,
    `${name} --version  print the version, and exit`,
    `${name} --help     print this help, and exit`,
    "",
    "Configured by environment variables, also from .env in the working folder:",
    ...variables.map((variable) => `  ${variable}`),
  ].join("\n");
}

/** The text of `--version`: one line for people, and enough for a bug report. */
export function renderVersion(name: string): string {
  const { version, commit, deno, libraries } = describeVersion(name);
  const parts = Object.entries(libraries).map(([library, of]) => `${library} ${of}`);
  return `${name} ${version} (${commit}), deno ${deno}, ${parts.join(", ")}`;
}
