import type { AnchorHTMLAttributes, ComponentChildren } from "preact";
import { hasKey } from "../key.ts";
import { hrefOf, navigate } from "../location.ts";

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
      href={hrefOf(href)}
      onClick={(event) => {
        const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
        if (event.altKey || (isElsewhere && !hasKey())) return;
        event.preventDefault();
        if (isElsewhere) globalThis.open(hrefOf(href)); // a tab that a script opens has the key as well
        else navigate(href);
      }}
    >
      {children}
    </a>
  );
}
