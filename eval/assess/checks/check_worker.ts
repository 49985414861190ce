/** Patterns, schemas, languages and long texts, in a thread of their own. */
import { serveCalls } from "../../../shared/background/serve_calls.ts";
import { stoppable } from "../../../shared/background/stoppable.ts";
import { decideJson, decideRegex, inspectCompiled } from "./compiled_checks.ts";
import type { Decision } from "./decision.ts";
import { decideLanguage } from "./language_check.ts";
import { decideText } from "./text_checks.ts";
import type { CheckedText, CheckWork } from "./content_checks.ts";

serveCalls(
  stoppable((work: CheckWork): Decision[] | (string | null)[] =>
    "inspect" in work ? work.inspect.map(inspectCompiled) : work.decide.map(decideContent)
  ),
);

function decideContent({ check, text }: CheckedText): Decision {
  switch (check.type) {
    case "regex":
      return decideRegex(check, text);
    case "json":
      return decideJson(check, text);
    case "language":
      return decideLanguage(check, text);
    default:
      return decideText(check, text);
  }
}
