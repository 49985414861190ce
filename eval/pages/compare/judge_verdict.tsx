import { useSignal } from "@preact/signals";
import { Button } from "../../../shared/pages/components/button.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatCount, formatNumberOf } from "../../../shared/pages/format.ts";
import type { Preference } from "../../figures/judge_preference.ts";
import { askJudge } from "../api.ts";
import { Section } from "../parts/section.tsx";
import { useSending } from "../sending.ts";
import { asSentence, sumOf, VERDICT_TONES } from "../words.ts";

/** Which replies the judge prefers. It is asked on request, because that costs. */
export function JudgeVerdict({ ids }: { ids: { baseline: string; candidate: string } }) {
  const found = useSignal<Preference | undefined>(undefined);
  const { problem, isSending, send } = useSending();
  const ask = () => send(async () => void (found.value = await askJudge(ids)));
  return (
    <Section
      title="The judge's preference"
      hint="Of the first attempts, turn by turn. The judge is asked twice for each, in both orders."
      actions={!found.value && (
        <Button isSmall disabled={isSending.value} onClick={ask}>
          {isSending.value ? "Asking the judge…" : "Ask the judge"}
        </Button>
      )}
    >
      {problem.value && <ProblemNotice problem={problem.value} />}
      {found.value && <Found preference={found.value} />}
    </Section>
  );
}

function Found({ preference }: { preference: Preference }) {
  const { verdict, reason, candidate_better, baseline_better, ties, contradictory } = preference;
  const missing = sumOf(preference.missing);
  return (
    <p>
      <span class={`badge ${VERDICT_TONES[verdict]}`}>{verdict}</span> The candidate is preferred in
      {" "}
      {formatNumberOf(candidate_better, "turn")}, the baseline in {formatCount(baseline_better)};
      {" "}
      {formatNumberOf(ties, "tie")}, {formatCount(contradictory)} that change with the order,{" "}
      {formatCount(missing)} not judged.
      {reason && <span class="muted">{` ${asSentence(reason)}`}</span>}
    </p>
  );
}
