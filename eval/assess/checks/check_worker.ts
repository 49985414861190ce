/** Decides checks of patterns, schemas, languages and long texts in a worker. */
import { serveCalls, stoppable } from "../../../shared/background/serve_calls.ts";
import { decisionOf } from "../../schemas/check_kinds.ts";
import type { Decision } from "../../schemas/decision.ts";
import { decideJson, decideLanguage, decideRegex, inspectCompiled } from "./compiled_checks.ts";
import type { CheckedText, CheckWork } from "./content_checks.ts";
import { measure } from "./measures.ts";

serveCalls(
  stoppable((work: CheckWork): Decision[] | (string | null)[] =>
    "inspect" in work ? work.inspect.map(inspectCompiled) : work.decide.map(decideContent)
  ),
);

function decideContent({ check, ...reply }: CheckedText): Decision {
  if (check.type === "regex") return decideRegex(check, reply.text);
  if (check.type === "json") return decideJson(check, reply.text);
  if (check.type === "language") return decideLanguage(check, reply.text);
  return decisionOf(check)!(check, measure(reply));
}
