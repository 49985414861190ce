import type { ComponentChildren } from "preact";
import { Link } from "../../shared/pages/components/link.tsx";
import { TopBar } from "../../shared/pages/components/top_bar.tsx";
import { path } from "../../shared/pages/location.ts";
import type { ListedRun } from "../api/schemas/run_schemas.ts";
import { DeleteDialog } from "./deletion.tsx";
import { Explained } from "./glossary.tsx";
import { source } from "./source.ts";

const PLACES = [
  { href: "/", label: "Runs", at: /^\/($|ui\/runs)/ },
  { href: "/ui/groups", label: "Groups", at: /^\/ui\/groups/ },
  { href: "/ui/new", label: "New run", at: /^\/ui\/new$/ },
  { href: "/ui/datasets", label: "Datasets", at: /^\/ui\/dataset/ },
  { href: "/ui/compare", label: "Compare", at: /^\/ui\/compare$/ },
];

/** The frame of every view of the dashboard. */
export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <>
      <TopBar title="Assay">
        <nav class="places" aria-label="Views">
          {PLACES.map(({ href, label, at }) => (
            <Link
              key={href}
              href={href}
              {...(at.test(path.value) && { "aria-current": "page" as const })}
            >
              {label}
            </Link>
          ))}
        </nav>
      </TopBar>
      <main id="main" class="page" tabIndex={-1}>
        {children}
        <DeleteDialog />
      </main>
    </>
  );
}

/** A part of a view with a heading. */
export function Section({ title, hint, actions, children }: {
  title: string;
  hint?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card section">
      <div class="section-head">
        <div>
          <h3>{title}</h3>
          {hint && (
            <p class="muted small">
              {typeof hint === "string" ? <Explained text={hint} /> : hint}
            </p>
          )}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** A link to a view that a report does not have: there it is only its text. */
export function LiveLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!source.isLive) return <span dir="auto">{children}</span>;
  return <Link href={href} dir="auto">{children}</Link>;
}

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
