import type { ComponentChildren } from "preact";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Explained } from "../glossary.tsx";
import { source } from "../source.ts";

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

/** A link to a view that a report may not have, as two other runs: there it is only its text. */
export function LiveLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!source.isLive && href.startsWith("/ui/compare")) return <span dir="auto">{children}</span>;
  return <Link href={href} dir="auto">{children}</Link>;
}
