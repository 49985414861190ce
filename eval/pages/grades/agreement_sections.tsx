import type { ComponentChildren } from "preact";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import {
  formatChosen,
  formatCount,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { GradeAgreement } from "../../test/grades.ts";
import { Section } from "../parts/section.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { differenceText, scoreLabel } from "../words.ts";
import { authorName } from "./grading.tsx";

/** A score against people: its bias, and the threshold that fits people best. */
export function JudgeSection({ agreement }: { agreement: GradeAgreement }) {
  const { judge, pass_threshold } = agreement;
  if (!judge) {
    return (
      <Section title="The score against people">
        <p class="muted">No graded turn has this score.</p>
      </Section>
    );
  }
  const { mean, ci95 } = judge.mean_difference;
  const name = scoreLabel(judge.score);
  return (
    <Section
      title={`${name.charAt(0).toUpperCase()}${name.slice(1)} against people`}
      hint={`Over ${formatNumberOf(judge.turns, "graded turn")}${
        judge.missing > 0 ? `; ${formatCount(judge.missing)} lack the score` : ""
      }`}
    >
      <dl class="figures">
        <Figure label="Bias" value={differenceText(mean)}>
          {ci95
            ? `95% interval ${differenceText(ci95[0])} to ${differenceText(ci95[1])}`
            : "too few scenarios for an interval"}
          {ci95 && ci95[0] > 0
            ? ": kinder than people"
            : ci95 && ci95[1] < 0
            ? ": stricter than people"
            : ""}
        </Figure>
        <Alpha label="Agreement with grades (alpha)" alpha={judge.alpha} />
      </dl>
      <h4>Threshold</h4>
      <Threshold threshold={judge.threshold} passFrom={pass_threshold} />
    </Section>
  );
}

/** A number with its name and what it means. */
function Figure({ label, value, children }: {
  label: string;
  value: string;
  children?: ComponentChildren;
}) {
  return (
    <div>
      <dt class="muted small">
        <Explained text={label} />
      </dt>
      <dd>
        <strong class="number">{value}</strong> <span class="muted small">{children}</span>
      </dd>
    </div>
  );
}

function Alpha({ label, alpha }: { label: string; alpha: number | null }) {
  return <Figure label={label} value={formatScore(alpha)}>{describeAlpha(alpha)}</Figure>;
}

function Threshold({ threshold: { best, present }, passFrom }: {
  threshold: NonNullable<GradeAgreement["judge"]>["threshold"];
  passFrom: number;
}) {
  const isBest = best.agreement <= present.agreement;
  return (
    <>
      <p>
        {best.kappa !== null && best.kappa <= 0
          ? "No threshold agrees with people better than chance."
          : isBest
          ? `The current threshold of ${formatChosen(present.threshold)} fits people best.`
          : `A threshold of ${formatChosen(best.threshold)} would fit people better than ${
            formatChosen(present.threshold)
          }.`}
      </p>
      <DataTable
        label="Thresholds"
        isFlat
        rows={[
          { label: "current", ...present },
          ...(isBest ? [] : [{ label: "best", ...best }]),
        ]}
        keyOf={({ label }) => label}
        columns={[
          { label: "Threshold", cell: ({ label }) => label },
          { label: "Pass from", isNumber: true, cell: ({ threshold }) => formatChosen(threshold) },
          {
            label: "Agrees with people",
            isNumber: true,
            cell: ({ agreement }) => `${formatScore(agreement * 100, 0)}%`,
          },
          {
            label: "Kappa",
            means: meaningOf("kappa"),
            isNumber: true,
            cell: ({ kappa }) => formatScore(kappa),
          },
        ]}
      />
      <p class="muted small">People pass a turn from a mean grade of {formatChosen(passFrom)}.</p>
    </>
  );
}

/** People against each other: who graded, and how far they agree. */
export function PeopleSection({ agreement: { authors, people } }: { agreement: GradeAgreement }) {
  return (
    <Section
      title="People against each other"
      hint={people.turns > 0
        ? `Over ${formatNumberOf(people.turns, "turn")} that several people graded`
        : "No turn has grades of two people: let a second person grade some of them."}
    >
      {people.turns > 0 && (
        <dl class="figures">
          <Alpha label="Agreement on grades (alpha)" alpha={people.alpha} />
        </dl>
      )}
      <DataTable
        label="People"
        isFlat
        rows={authors}
        keyOf={({ author }) => author ?? ""}
        columns={[
          { label: "Person", cell: ({ author }) => <span dir="auto">{authorName(author)}</span> },
          { label: "Grades", isNumber: true, cell: ({ grades }) => formatCount(grades) },
          { label: "Mean grade", isNumber: true, cell: ({ mean }) => formatScore(mean) },
        ]}
      />
    </Section>
  );
}

/** What Krippendorff's alpha is worth, after his own advice. */
export function describeAlpha(alpha: number | null): string {
  if (alpha === null) return "not defined: too few grades, or all the same";
  if (alpha >= 0.8) return "reliable";
  return alpha >= 0.667 ? "enough for careful conclusions" : "too low to rely on";
}
