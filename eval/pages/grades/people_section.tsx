import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { formatCount, formatNumberOf, formatScore } from "../../../shared/pages/format.ts";
import type { AuthorPair, GradeAgreement } from "../../schemas/grades.ts";
import { Section } from "../frame.tsx";
import { meaningOf } from "../glossary.tsx";
import { differenceText } from "../words.ts";
import { describeAlpha } from "./agreement_words.ts";
import { authorName } from "./grades_of_turn.tsx";
import { Figure } from "./judge_section.tsx";

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
          <Figure label="Agreement on grades (alpha)" value={formatScore(people.alpha_interval)}>
            {describeAlpha(people.alpha_interval)}
          </Figure>
          <Figure label="Agreement on passing (alpha)" value={formatScore(people.alpha_pass)}>
            {describeAlpha(people.alpha_pass)}
          </Figure>
          {people.alpha_labels !== null && (
            <Figure label="Agreement on labels (alpha)" value={formatScore(people.alpha_labels)}>
              {describeAlpha(people.alpha_labels)}
            </Figure>
          )}
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
      {people.pairs.length > 0 && <Pairs pairs={people.pairs} />}
    </Section>
  );
}

function Pairs({ pairs }: { pairs: AuthorPair[] }) {
  return (
    <DataTable
      label="Pairs of people"
      isFlat
      rows={pairs}
      keyOf={({ authors }) => JSON.stringify(authors)}
      columns={[
        {
          label: "Pair",
          cell: ({ authors: [one, other] }) => (
            <>
              <span dir="auto">{authorName(one)}</span> and{" "}
              <span dir="auto">{authorName(other)}</span>
            </>
          ),
        },
        { label: "Turns", isNumber: true, cell: ({ turns }) => formatCount(turns) },
        {
          label: "Rank correlation",
          means: meaningOf("rank correlation"),
          isNumber: true,
          cell: ({ spearman }) => formatScore(spearman),
        },
        {
          label: "Mean difference",
          isNumber: true,
          cell: ({ mean_difference }) =>
            mean_difference ? differenceText(mean_difference.mean) : "–",
        },
      ]}
    />
  );
}
