import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../shared/pages/components/button.tsx";
import { branchesOf, type Conversation, shownTurns } from "./conversation/conversation.ts";
import { TurnView } from "./turn_view.tsx";

/** Pixels from the end within which the reader counts as being there. */
const NEAR_END = 48;

/** The turns of a conversation. It follows the text as long as the reader is at the end. */
export function Transcript({ conversation }: { conversation: Conversation }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);

  /** The list of sizes may change once more while the view goes away. */
  const toEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });

  useEffect(() => {
    const observer = new ResizeObserver(() => follows.current && toEnd());
    observer.observe(content.current!);
    return () => observer.disconnect();
  }, []);

  function onScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = scroller.current!;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END;
    // Text that arrives moves the end away: only going up means that the reader has left it.
    if (isNear) follows.current = true;
    else if (scrollTop < lastTop.current) follows.current = false;
    lastTop.current = scrollTop;
    setAtEnd(isNear || follows.current);
  }

  const turns = shownTurns(conversation);
  const last = turns.at(-1)?.id;
  useEffect(() => {
    follows.current = true; // a message of the person's own is always shown
    toEnd();
  }, [last]);

  return (
    <div
      class="transcript"
      ref={scroller}
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label="Conversation"
    >
      <div class="transcript-content" ref={content}>
        {turns.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            branches={branchesOf(conversation, turn).map(({ id }) => id).join(" ")}
            isLast={turn.id === last}
          />
        ))}
      </div>
      {!isAtEnd && (
        <div class="to-end">
          <Button icon="down" onClick={toEnd}>To the end</Button>
        </div>
      )}
    </div>
  );
}
