import type { RunProgress } from "../../run/active_run.ts";
import { clearLine, type CliStream } from "../context.ts";

/** Ten updates per second look smooth; more only cost time. */
const REDRAW_MS = 100;
const LINES = 20;
const BAR_WIDTH = 24;

interface ProgressDisplay {
  update(progress: RunProgress): void;
  /** Leaves the last state on the screen. */
  close(progress: RunProgress): void;
}

/** A bar that redraws itself on a terminal; in a log, a line every twentieth of the way. */
export function createProgressDisplay(stream: CliStream, now: () => number): ProgressDisplay {
  return stream.isTerminal ? createBar(stream, now) : createLines(stream);
}

function createBar(stream: CliStream, now: () => number): ProgressDisplay {
  let drawnAt = -Infinity;
  const draw = (progress: RunProgress) => {
    const filled = Math.floor(share(progress) * BAR_WIDTH);
    const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
    const text = `${bar} ${describeProgress(progress)}`.slice(0, stream.columns - 1);
    stream.write(clearLine(stream) + text);
    drawnAt = now();
  };
  return {
    update: (progress) => {
      if (now() - drawnAt >= REDRAW_MS) draw(progress);
    },
    close: (progress) => {
      draw(progress);
      stream.write("\n");
    },
  };
}

function createLines(stream: CliStream): ProgressDisplay {
  let reported = -1;
  const update = (progress: RunProgress) => {
    const step = Math.floor(share(progress) * LINES);
    if (step <= reported) return;
    reported = step;
    stream.write(`${describeProgress(progress)}\n`);
  };
  return {
    update,
    close: (progress) => {
      if (progress.done < progress.total) stream.write(`${describeProgress(progress)}\n`);
      else update(progress);
    },
  };
}

function share({ done, total }: RunProgress): number {
  return total === 0 ? 1 : done / total;
}

function describeProgress({ done, total, failed, missing, mean, eta_ms }: RunProgress): string {
  return [
    `${done}/${total} turns`,
    failed > 0 ? `${failed} failed` : "",
    missing > 0 ? `${missing} with a missing score` : "",
    mean === null ? "" : `mean ${mean.toFixed(3)}`,
    eta_ms === null || done === total ? "" : `${describeDuration(eta_ms)} left`,
  ].filter(Boolean).join(", ");
}

/** `75000` → `1m 15s`. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
