// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** Validates the GitHub workflows against their published schema; exits 1 and says what is wrong. */
import { validateWorkflow } from "npm:@action-validator/core@0.6.0";

const FOLDERS = [".github/workflows", "docs/examples"];

let isValid = true;
for (const folder of FOLDERS) {
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".yml")) continue; // .yaml: a file of another tool
    const text = Deno.readTextFileSync(`${folder}/${name}`);
    // The schema (0.6.0) does not know this permission yet.
    const { errors } = validateWorkflow(text.replace(/^ +attestations: write\n/m, ""));
    if (errors.length === 0) continue;
    isValid = false;
    console.error(`${folder}/${name}: ${JSON.stringify(errors, null, 2)}`);
  }
}
if (!isValid) Deno.exit(1);
console.log("The workflows are valid.");
