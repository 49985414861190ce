import { Link } from "../../../shared/pages/components/link.tsx";
import { Age } from "../../../shared/pages/components/states.tsx";
import type { TurnSearch } from "../../http/schemas/turn_schemas.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import { searchTurns } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { Shown } from "../loaded.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { modelOf, placeOf, resultOf, RESULTS, saidAt } from "../words.ts";

/** Turns of all runs that contain a text. */
export function FoundTurns({ text }: { text: string }) {
  const { loaded, more } = usePages(
    (count) => readPages("runs", (cursor) => searchTurns(text, cursor), count),
    [text],
  );
  return (
    <Section title="In conversations" hint={`Messages, replies and references with “${text}”`}>
      <Shown loaded={loaded} what="the conversations">
        {({ rows, hasMore }) => (
          <>
            {rows.length === 0 && !hasMore && <p class="muted">No conversation has this text.</p>}
            <ul class="found-runs">
              {rows.map((run) => <FoundRun key={run.run_id} run={run} text={text} />)}
            </ul>
            {more}
          </>
        )}
      </Shown>
    </Section>
  );
}

function FoundRun({ run, text }: { run: TurnSearch["runs"][number]; text: string }) {
  const address = `/ui/runs/${run.run_id}`;
  const filter = `q=${encodeURIComponent(text)}`;
  return (
    <li>
      <div class="muted small">
        <bdi>{run.test_name || "(no name)"}</bdi> · <bdi>{modelOf(run)}</bdi> ·{" "}
        <Age of={run.created_at} />
        {run.has_more && (
          <>
            {" · "}
            <Link href={`${address}?${filter}`}>all in this run</Link>
          </>
        )}
      </div>
      {run.turns.map((turn) => {
        const { label, tone } = RESULTS[resultOf(turn)];
        return (
          <div key={placeOf(turn)} class="found-turn">
            <span class={`badge ${tone}`}>{label}</span>
            <Link href={`${address}?${filter}&turn=${placeOf(turn)}`} dir="auto">
              {excerptOf(saidAt(turn), text)}
            </Link>
          </div>
        );
      })}
    </li>
  );
}

const AROUND = 80;

/** What is around the text, where it is first: in the reply, the message or the reference. */
function excerptOf(
  { agent_reply = "", user_message = "", reference_reply = "" }: Partial<InteractionResult>,
  text: string,
) {
  const wanted = text.toLowerCase();
  const said = [agent_reply, user_message, reference_reply]
    .find((own) => own.toLowerCase().includes(wanted));
  if (said === undefined) return agent_reply.slice(0, 2 * AROUND); // after the part that was read
  const at = said.toLowerCase().indexOf(wanted);
  const from = Math.max(0, at - AROUND);
  const end = at + text.length;
  return (
    <>
      {from > 0 && "…"}
      {said.slice(from, at)}
      <mark>{said.slice(at, end)}</mark>
      {said.slice(end, end + AROUND)}
      {end + AROUND < said.length && "…"}
    </>
  );
}
