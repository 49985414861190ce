import type { ListedRun } from "../../http/schemas/run_schemas.ts";

/** The status, and in lists how far a run is that is running. Only results are green or red. */
export function StatusBadge({ run: { status, detail, progress }, hasShare = true }: {
  run: Pick<ListedRun, "status" | "detail" | "progress">;
  hasShare?: boolean;
}) {
  const share = progress.total > 0 ? Math.floor(progress.done / progress.total * 100) : 0;
  return (
    <span
      class={status === "completed"
        ? "muted small nowrap"
        : status === "running"
        ? "badge accent"
        : "badge"}
      {...(detail && { title: detail })}
    >
      {status === "running" && hasShare ? `running ${share}%` : status}
    </span>
  );
}
