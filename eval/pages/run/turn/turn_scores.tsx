import { formatScore } from "../../../../shared/pages/format.ts";
import type { ShownTurn } from "../../../http/schemas/turn_schemas.ts";
import type { RunSummary } from "../../../figures/run_summary.ts";
import { Section } from "../../parts/section.tsx";
import { useLoaded } from "../../loaded.tsx";
import { source } from "../../source.ts";
import { isLexical, overallFirst, scoreLabel } from "../../words.ts";

/** Every score of a turn: its value, what it means, how it was computed here, how exact it is. */
export function TurnScores({ turn, summary }: { turn: ShownTurn; summary: RunSummary }) {
  const { scores, score_methods = {}, missing_scores = {}, annotation, judge } = turn.interaction;
  const { score_reasons = {} } = turn.interaction;
  const known = useLoaded(() => source.scores(), []);
  const test = useLoaded(() => source.selfTest(), []);
  const descriptions = new Map(known.value?.scores.map((score) => [score.name, score]));
  const names = overallFirst(Object.keys(scores));
  const methodOf = (name: string) => {
    const key = name.replace(/_match$/, "");
    const note = annotation && Object.hasOwn(annotation.keys, key)
      ? annotation.keys[key]
      : undefined;
    return score_methods[name] ?? note?.method ?? (name === "judge" ? judge?.model : undefined);
  };
  return (
    <Section title="Scores" hint="Open a score for its definition.">
      <div class="score-list">
        {names.filter((name) => !isLexical(name)).map(scoreOf)}
      </div>
      {names.some(isLexical) && (
        <details class="as-table">
          <summary>Scores of words in common</summary>
          <div class="score-list">{names.filter(isLexical).map(scoreOf)}</div>
        </details>
      )}
    </Section>
  );

  function scoreOf(name: string) {
    const value = scores[name] ?? null;
    const description = descriptions.get(name) ??
      (name.endsWith("_match") ? descriptions.get("<key>_match") : undefined);
    const deviation = test.value?.scores[name]?.largest_deviation;
    const mean = summary.statistics[name]?.mean;
    return (
      <details key={name}>
        <summary>
          <span class="score-name">{scoreLabel(name)}</span>
          <meter min={0} max={1} value={value ?? 0} aria-label={scoreLabel(name)} />
          <span class="number">{formatScore(value)}</span>
        </summary>
        <dl class="score-facts">
          {missing_scores[name] && (
            <>
              <dt>Missing</dt>
              <dd class="bad-text">{missing_scores[name]}</dd>
            </>
          )}
          {score_reasons[name] && (
            <>
              <dt>Reason</dt>
              <dd dir="auto">{score_reasons[name]}</dd>
            </>
          )}
          {description && (
            <>
              <dt>Definition</dt>
              <dd>{description.definition}</dd>
              <dt>Method</dt>
              <dd>{methodOf(name) ?? description.method}</dd>
              {description.equals && (
                <>
                  <dt>Reproduces</dt>
                  <dd>
                    {description.equals}
                    {typeof deviation === "number" &&
                      `; the self-test deviates by ${deviation.toPrecision(1)} at most`}
                  </dd>
                </>
              )}
              {description.limits && (
                <>
                  <dt>Cannot tell</dt>
                  <dd>{description.limits}</dd>
                </>
              )}
            </>
          )}
          <dt>Mean of the run</dt>
          <dd>{formatScore(mean)}</dd>
        </dl>
      </details>
    );
  }
}
