import type { AnchorHTMLAttributes, ComponentChildren } from "preact";
import { navigate } from "../location.ts";

/** A link to another view of this page; with a modifier key it opens a tab as any link does. */
export function Link(
  { href, children, ...more }: AnchorHTMLAttributes & {
    href: string;
    children: ComponentChildren;
  },
) {
  return (
    <a
      {...more}
      href={href}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}
