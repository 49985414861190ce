/** Arguments of the service; everything else is a command. */
const SERVICE_ARGUMENTS = ["--check", "--version", "-V"];

/** Each loads what it needs: a command starts without the routes and pages of the service. */
async function serve(): Promise<void> {
  const { startService } = await import("../shared/service/ops/start.ts");
  const { defineEval } = await import("./service.ts");
  await startService(defineEval());
}

async function runCommand(name: string): Promise<number> {
  const { asksForHelp } = await import("./cli/command.ts");
  const { createEncoderAhead } = await import("./cli/process/encoder_ahead.ts");
  const encoder = createEncoderAhead();
  // First of all: it takes as long as loading the other modules, on another processor, which is 6 %
  // of a cold run.
  if (name === "run" && !asksForHelp(Deno.args)) encoder.begin();
  const { createDenoContext } = await import("./cli/process/deno_context.ts");
  const { runCli } = await import("./cli/cli.ts");
  return await runCli(Deno.args, await createDenoContext(encoder));
}

if (import.meta.main) {
  const [first] = Deno.args;
  if (first === undefined || SERVICE_ARGUMENTS.includes(first)) await serve();
  else Deno.exit(await runCommand(first));
}
