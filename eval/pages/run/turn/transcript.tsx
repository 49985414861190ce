import { useLayoutEffect, useRef } from "preact/hooks";
import { Link } from "../../../../shared/pages/components/link.tsx";
import { formatNumberOf, formatScore } from "../../../../shared/pages/format.ts";
import { query } from "../../../../shared/pages/location.ts";
import type { TurnRow } from "../../../run/events/turn_view.ts";
import { Section } from "../../frame.tsx";
import { placeOf, resultOf, RESULTS } from "../../words.ts";

/** The conversation up to a turn, with the score of each turn. Earlier turns are scrolled away. */
export function Transcript({ turns, omitted }: { turns: TurnRow[]; omitted: number }) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const { current } = list;
    const last = current?.lastElementChild as HTMLElement | null | undefined;
    if (current && last) current.scrollTop = last.offsetTop - current.offsetTop;
  }, [turns]);
  return (
    <Section
      title="Conversation"
      hint={omitted > 0
        ? `${formatNumberOf(omitted, "earlier turn")} not shown`
        : "As the model was asked, with its own earlier replies"}
    >
      <ol class="transcript" ref={list} tabIndex={0} aria-label="Conversation">
        {turns.map((turn, index) => (
          <li key={turn.turn} class={index === turns.length - 1 ? "current" : ""}>
            <div class="said user" dir="auto">{String(turn.interaction?.user_message ?? "")}</div>
            <div class="said reply" dir="auto">{String(turn.interaction?.agent_reply ?? "")}</div>
            <TurnLink turn={turn} isCurrent={index === turns.length - 1} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function TurnLink({ turn, isCurrent }: { turn: TurnRow; isCurrent: boolean }) {
  const parameters = new URLSearchParams(query.value);
  parameters.set("turn", placeOf(turn));
  const text = `Turn ${turn.turn + 1}: ${formatScore(turn.scores.overall)}`;
  const badge = <span class={`badge ${RESULTS[resultOf(turn)].tone}`}>{text}</span>;
  return isCurrent ? badge : <Link href={`?${parameters}`}>{badge}</Link>;
}
