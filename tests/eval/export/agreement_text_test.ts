import { assertStringIncludes } from "@std/assert";
import { terminalForm } from "../../../eval/cli/report/terminal_form.ts";
import { agreementText } from "../../../eval/export/text/agreement_text.ts";
import { describeAgreement, type GradedTurn } from "../../../eval/grades/agreement.ts";

function textOf(pairs: [score: number, grade: number][]): string {
  const turns = pairs.map(([score, value], scenario): GradedTurn => ({
    scenario,
    score,
    grades: [{ author: "ann", value, label: null }],
  }));
  const found = describeAgreement(turns, { score: "judge", passThreshold: 0.7 });
  return agreementText({ run_id: "run", ...found }, terminalForm);
}

Deno.test("the agreement names the threshold of the run, and a better one if there is one", () => {
  assertStringIncludes(
    textOf([[0.9, 0.9], [0.2, 0.1]]),
    "judge passes and fails as people do in 100 % of turns at 0.7, and no threshold does better\n",
  );
  assertStringIncludes(
    textOf([[0.9, 0.9], [0.8, 0.2], [0.1, 0.1], [0.1, 0.1]]),
    "judge passes and fails as people do in 75 % of turns at 0.7, and in 100 % at 0.9\n",
  );
});
