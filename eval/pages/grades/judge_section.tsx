import type { ComponentChildren } from "preact";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import {
  formatChosen,
  formatCount,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { BiasBand, GradeAgreement } from "../../schemas/grades.ts";
import { DifferenceChart } from "../charts/difference.tsx";
import { Section } from "../frame.tsx";
import { Explained, meaningOf } from "../glossary.tsx";
import { differenceText, scoreLabel } from "../words.ts";
import { describeAlpha } from "./agreement_words.ts";

/** A score against people: its bias over its range, and the threshold that fits people best. */
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
        <Figure label="Agreement with grades (alpha)" value={formatScore(judge.alpha_interval)}>
          {describeAlpha(judge.alpha_interval)}
        </Figure>
        <Figure label="Agreement on passing (alpha)" value={formatScore(judge.alpha_pass)}>
          {describeAlpha(judge.alpha_pass)}
        </Figure>
        <Figure label="Rank correlation" value={formatScore(judge.spearman)} />
      </dl>
      <Bands bands={judge.bands} name={name} />
      <h4>Threshold</h4>
      <Threshold threshold={judge.threshold} passFrom={pass_threshold} />
    </Section>
  );
}

/** A number with its name and what it means. */
export function Figure({ label, value, children }: {
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

function Bands({ bands, name }: { bands: BiasBand[]; name: string }) {
  const reach = Math.max(
    0.1,
    ...bands.flatMap(({ bias: { mean, ci95 } }) => [mean, ...ci95 ?? []].map(Math.abs)),
  );
  return (
    <DataTable
      label="Bias by band"
      isFlat
      rows={bands}
      keyOf={({ from }) => from}
      columns={[
        {
          label: `Where ${name} is`,
          cell: ({ from, to }) => `${formatScore(from, 1)} to ${formatScore(to, 1)}`,
        },
        { label: "Turns", isNumber: true, cell: ({ turns }) => formatCount(turns) },
        { label: "Score", isNumber: true, cell: ({ score }) => formatScore(score) },
        { label: "People", isNumber: true, cell: ({ people }) => formatScore(people) },
        {
          label: "Stricter ← 0 → kinder",
          isWide: true,
          cell: ({ bias }) => <DifferenceChart mean={bias.mean} ci95={bias.ci95} reach={reach} />,
        },
        {
          label: "Bias",
          means: meaningOf("bias"),
          isNumber: true,
          cell: ({ bias }) => differenceText(bias.mean),
        },
      ]}
    />
  );
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
