/** More than any program needs; one that hangs is killed with its children. */
const LIMIT_SECONDS = 120;

export interface ProgramOptions {
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** What a program prints. Throws, with everything that it printed, if it fails. */
export async function runProgram(
  program: string,
  { args, cwd, env }: ProgramOptions,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("timeout", {
    args: ["--kill-after=1", String(LIMIT_SECONDS), program, ...args],
    cwd,
    env,
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  const printed = text.decode(stdout);
  if (success) return printed;
  throw new Error(`${program} failed\n${printed}\n${text.decode(stderr)}`);
}
