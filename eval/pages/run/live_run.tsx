import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import {
  formatCount,
  formatDuration,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import { followRun } from "../api.ts";
import { source } from "../source.ts";

const RECONNECT_MS = 2_000;
/** How often the table of turns is read again while turns arrive. */
const TABLE_MS = 3_000;

/** Follows a run while it is running; begins again after a reload or a restart of the service. */
export function LiveRun({ run, onEnd, onTurns }: {
  run: Run;
  onEnd: () => void;
  /** Called from time to time, when there are further turns. */
  onTurns: () => void;
}) {
  const progress = useSignal(run.progress);
  const error = useSignal<string | undefined>(undefined);
  const isLost = useSignal(false);
  const told = useRef({ onEnd, onTurns }); // read by an effect that outlives a render
  told.current = { onEnd, onTurns };

  useEffect(() => {
    const controller = new AbortController();
    let shownAt = 0;
    let seq = 0;

    function take({ interaction }: { interaction: InteractionResult }): void {
      error.value ??= interaction.error?.detail;
      const now = performance.now();
      if (now - shownAt < TABLE_MS) return;
      shownAt = now;
      told.current.onTurns();
    }

    /** True if the run has ended. */
    async function follow(): Promise<boolean> {
      for await (
        const { name, data, id } of followRun(run.run_id, { seq, signal: controller.signal })
      ) {
        isLost.value = false;
        if (name === "progress") {
          progress.value = JSON.parse(data);
          // The result that follows may have megabytes, and the page does not need it.
          if (progress.value.done >= progress.value.total) return true;
        } else if (name === "turn") {
          seq = Number(id);
          take(JSON.parse(data));
        } else if (name === "ended" || name === "result") return true;
        else if (name === "stopping") return false;
      }
      return false;
    }

    async function begin(): Promise<void> {
      const [last, summary] = await Promise.all([
        source.turns(run.run_id, { sort: "-seq", limit: 1 }),
        source.summary(run.run_id),
      ]);
      seq = last.turns[0]?.seq ?? 0;
      error.value ??= summary.errors[0]?.detail;
    }

    async function keepFollowing(): Promise<void> {
      let hasBegun = false;
      while (!controller.signal.aborted) {
        try {
          if (!hasBegun) await begin();
          hasBegun = true;
          if (await follow()) return setTimeoutUnlessLeft(told.current.onEnd);
        } catch {
          if (controller.signal.aborted) return;
          isLost.value = true;
        }
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      }
    }

    /** The last turn is stored a moment before the end of its run is. */
    function setTimeoutUnlessLeft(then: () => void): void {
      setTimeout(() => controller.signal.aborted || then(), 500);
    }

    keepFollowing();
    return () => controller.abort();
  }, [run.run_id]);

  const { done, total, failed, mean, eta_ms } = progress.value;
  const speed = eta_ms ? (total - done) / eta_ms * 1_000 : 0; // so that both say the same
  return (
    <section class="card section live" aria-label="Progress">
      <div class="section-head">
        <p class="sentence">
          {formatCount(done)} of {formatNumberOf(total, "turn")} done
        </p>
        <span class="muted small" role="status">
          {isLost.value ? "Connection lost; trying again…" : [
            mean !== null && `mean so far ${formatScore(mean)}`,
            speed > 0 && `${formatScore(speed, 1)} turns/s`,
            eta_ms !== null && eta_ms > 0 && `${formatDuration(eta_ms)} left`,
          ].filter(Boolean).join(" · ")}
        </span>
      </div>
      <progress max={total} value={done} aria-label="Finished turns" />
      {failed > 0 && (
        <p class="first-error" role="note">
          <strong>{`${formatNumberOf(failed, "call")} failed`}</strong>
          {error.value && <span dir="auto">: {error.value}</span>}
        </p>
      )}
    </section>
  );
}
