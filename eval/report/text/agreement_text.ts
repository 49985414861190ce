import { counted } from "../../../shared/service/text.ts";
import type { GradeAgreement } from "../../test/grades.ts";
import { showDifference, showInterval, showScore, type TextForm } from "./text_form.ts";

/** The agreement of people and judge, for people. */
export function agreementText(found: GradeAgreement, form: TextForm): string {
  const { grades, graded_turns, authors, people, judge } = found;
  const title = form.title("Agreement", 2);
  if (grades === 0) return title + form.lines(["Nobody has graded a turn of this run."]);
  return title +
    form.lines([
      `${counted(grades, "grade")} of ${counted(graded_turns, "turn")} by ` +
      (authors.length === 1 ? "1 person" : `${authors.length} people`),
      ...(people.turns > 0
        ? [
          `People with each other, over ${counted(people.turns, "turn")}: Krippendorff's alpha ` +
          showScore(people.alpha),
        ]
        : []),
      ...(judge ? describeJudge(judge, form) : []),
    ]);
}

function describeJudge(
  judge: NonNullable<GradeAgreement["judge"]>,
  form: TextForm,
): string[] {
  const { score, turns, mean_difference: { mean, ci95 }, threshold: { best, present } } = judge;
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return [
    `${form.name(score)} with people, over ${counted(turns, "turn")}: Krippendorff's alpha ` +
    showScore(judge.alpha),
    `${form.name(score)} is ${showDifference(mean)} from people` +
    (ci95 ? ` (95 %: ${showInterval(ci95)})` : ""),
    `${form.name(score)} passes and fails as people do ` +
    `in ${percent(present.agreement)} of turns at ${present.threshold}, and ` +
    (best.agreement > present.agreement
      ? `in ${percent(best.agreement)} at ${best.threshold}`
      : "no threshold does better"),
  ];
}
