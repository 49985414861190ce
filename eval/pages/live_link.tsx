import type { ComponentChildren } from "preact";
import { Link } from "../../shared/pages/components/link.tsx";
import { source } from "./source.ts";

/** A link to a view that a report does not have: there it is only its text. */
export function LiveLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!source.isLive) return <span dir="auto">{children}</span>;
  return <Link href={href} dir="auto">{children}</Link>;
}
