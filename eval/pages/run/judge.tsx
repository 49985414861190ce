import { formatScore } from "../../../shared/pages/format.ts";
import type { JudgeResult } from "../../schemas/interaction_result.ts";
import { Section } from "../frame.tsx";

const WIDTH = 240;

/** What the judge said: a dot per vote on its scale from 0 to 10, and the reasons. */
export function Judge({ judge }: { judge: JudgeResult }) {
  const { model, grade, votes, spread, error } = judge;
  const at = (grade: number) => 8 + grade / 10 * (WIDTH - 16);
  return (
    <Section
      title="Judge"
      hint={`${model}: ${formatScore(grade, 1)} of 10${
        spread === null ? "" : `, spread ${formatScore(spread, 1)}`
      }${error ? `, ${error}` : ""}`}
    >
      {votes.length > 0 && (
        <svg
          class="votes"
          width={WIDTH}
          height={24}
          viewBox={`0 0 ${WIDTH} 24`}
          role="img"
          aria-label={`Votes: ${votes.map(({ grade }) => grade).join(", ") || "none"}`}
        >
          <line class="axis" x1={at(0)} x2={at(10)} y1={12} y2={12} />
          {[0, 5, 10].map((mark) => (
            <line key={mark} class="axis" x1={at(mark)} x2={at(mark)} y1={8} y2={16} />
          ))}
          {votes.map((vote, index) => (
            <circle key={index} class="vote" cx={at(vote.grade)} cy={12} r={5} />
          ))}
          {grade !== null && <line class="grade" x1={at(grade)} x2={at(grade)} y1={2} y2={22} />}
        </svg>
      )}
      <ul class="reasons">
        {votes.map((vote, index) => (
          <li key={index}>
            <strong class="number">{vote.grade}</strong>
            <span dir="auto">{vote.reason}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
