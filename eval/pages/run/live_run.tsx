import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import {
  formatCount,
  formatDuration,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";
import type { Run } from "../../api/run_schemas.ts";
import { followRun } from "../api.ts";
import { source } from "../source.ts";

/** A turn as the events have it. */
interface TurnEvent {
  scenario_id: string;
  attempt_id: number;
  turn: number;
  interaction: InteractionResult;
}

const NEWEST = 6;
const RECONNECT_MS = 2_000;
/** The time over which the speed is taken. */
const WINDOW_MS = 10_000;
/** How often the table of turns is read again while turns arrive. */
const TABLE_MS = 3_000;

/** Follows a run while it is running; begins again after a reload or a restart of the service. */
export function LiveRun({ run, onEnd, onTurns }: {
  run: Run;
  onEnd: () => void;
  /** Called from time to time, with the number of finished turns. */
  onTurns: (done: number) => void;
}) {
  const progress = useSignal(run.progress);
  const newest = useSignal<TurnEvent[]>([]);
  const failures = useSignal<Record<string, number>>({});
  const speed = useSignal(0);
  const isLost = useSignal(false);
  const told = useRef({ onEnd, onTurns }); // by an effect that outlives a render
  told.current = { onEnd, onTurns };

  useEffect(() => {
    const controller = new AbortController();
    const arrivals: number[] = [];
    let shownAt = 0;
    let seq = 0;

    function take(event: TurnEvent): void {
      newest.value = [event, ...newest.value].slice(0, NEWEST);
      const code = event.interaction.error?.code;
      if (code) failures.value = { ...failures.value, [code]: (failures.value[code] ?? 0) + 1 };
      const now = performance.now();
      arrivals.push(now);
      while (arrivals[0]! < now - WINDOW_MS) arrivals.shift();
      const span = Math.max(1_000, now - arrivals[0]!);
      speed.value = arrivals.length / span * 1_000;
      if (now - shownAt < TABLE_MS) return;
      shownAt = now;
      told.current.onTurns(progress.value.done);
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
      failures.value = Object.fromEntries(summary.errors.map(({ code, turns }) => [code, turns]));
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

  const { done, total, eta_ms } = progress.value;
  const kinds = Object.entries(failures.value);
  return (
    <section class="card section live" aria-label="Progress">
      <div class="section-head">
        <h3>
          {formatCount(done)} of {formatNumberOf(total, "turn")}
        </h3>
        <span class="muted small" role="status">
          {isLost.value ? "Connection lost; trying again…" : [
            speed.value > 0 && `${formatScore(speed.value, 1)} turns/s`,
            eta_ms !== null && eta_ms > 0 && `${formatDuration(eta_ms)} left`,
          ].filter(Boolean).join(" · ")}
        </span>
      </div>
      <progress max={total} value={done} aria-label="Finished turns" />
      {kinds.length > 0 && (
        <p class="small bad-text">
          Failed calls: {kinds.map(([code, count]) => `${count} × ${code}`).join(", ")}
        </p>
      )}
      {newest.value.length > 0 && (
        <ul class="newest" aria-label="Newest replies">
          {newest.value.map(({ scenario_id, attempt_id, turn, interaction }) => (
            <li key={`${scenario_id}/${attempt_id}/${turn}`}>
              <span class="number">{formatScore(interaction.scores.overall)}</span>
              <span class="muted" dir="auto">{scenario_id} #{attempt_id}</span>
              <span class={interaction.error ? "excerpt bad-text" : "excerpt"} dir="auto">
                {interaction.error?.detail ?? interaction.agent_reply.slice(0, 200)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
