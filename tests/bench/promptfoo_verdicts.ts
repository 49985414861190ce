// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { CASES } from "../eval/score/checks/cases.ts";
import { toAssertion } from "../eval/score/checks/promptfoo.ts";

const RECORDED = new URL("../eval/score/checks/promptfoo_verdicts.json", import.meta.url);

/** promptfoo hangs on `(a+)+$` with a longer reply. */
const LONGEST_REPLY = 1_000;

/**
 * Has promptfoo decide the cases that it has an assertion for, and records its verdicts; a test
 * compares ours with them. promptfoo and what it needs have two gigabytes, so they are no dependency:
 * `PROMPTFOO=folder` names a folder with `npm install promptfoo`.
 */
export async function promptfooVerdicts(): Promise<void> {
  const folder = Deno.env.get("PROMPTFOO");
  if (!folder) return console.log("  skipped: set PROMPTFOO to a folder that has promptfoo");
  const asked = CASES.flatMap(([check, output]) => {
    const assertion = output.length > LONGEST_REPLY ? undefined : toAssertion(check);
    return assertion ? [{ check, output, assertion }] : [];
  });
  const script = `${folder}/assay_verdicts.mjs`;
  await Deno.writeTextFile(script, DECIDE);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "--node-modules-dir=manual", script],
    cwd: folder,
    env: { PROMPTFOO_DISABLE_TELEMETRY: "1", PROMPTFOO_DISABLE_UPDATE: "1" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(asked)));
  await writer.close();
  const { stdout } = await child.output();
  const passes: (boolean | string)[] = JSON.parse(
    new TextDecoder().decode(stdout).trim().split("\n").at(-1)!,
  );
  await Deno.remove(script);
  const rows = asked.map(({ check, output, assertion }, index) =>
    JSON.stringify({ check, reply: output, assertion: assertion.type, pass: passes[index] })
  );
  await Deno.writeTextFile(RECORDED, `[\n${rows.join(",\n")}\n]\n`);
  console.log(`  ${asked.length} of ${CASES.length} cases decided by promptfoo`);
}

const DECIDE = `
const { assertions } = (await import("promptfoo")).default;
const cases = JSON.parse(await new Response(Deno.stdin.readable).text());
const passes = [];
for (const { assertion, output } of cases) {
  try {
    const { pass } = await assertions.runAssertion({
      assertion, test: {}, providerResponse: { output }, latencyMs: 1,
    });
    passes.push(pass);
  } catch (error) {
    passes.push(String(error.message));
  }
}
console.log(JSON.stringify(passes));
Deno.exit(0);
`;
