import type { ComponentChildren } from "preact";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { openKeyboardHelp } from "./keyboard.tsx";
import { Link } from "./link.tsx";
import { ThemeSwitch } from "./theme_switch.tsx";

/** The first link of a page: skips the bar. */
export function SkipLink() {
  return <a class="visually-hidden skip" href="#main">Skip to content</a>;
}

/** A page that has the bar and one notice. */
export function BarePage({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <TopBar title={title} />
      <main id="main">{children}</main>
    </>
  );
}

/** The bar at the top: the title, the view's own controls, and those of every view. */
export function TopBar({ title, start, actions, children, hasSkipLink = true }: {
  title: string;
  /** False if the view has it before its list. */
  hasSkipLink?: boolean;
  /** Before the title: a button that opens a side list. */
  start?: ComponentChildren;
  /** After the space, before what every view has. */
  actions?: ComponentChildren;
  /** After the title. */
  children?: ComponentChildren;
}) {
  return (
    <header class="topbar">
      {hasSkipLink && <SkipLink />}
      {start}
      <h1>{title}</h1>
      {children}
      <span class="spacer" />
      {actions}
      <Link
        class="button quiet"
        href="/docs"
        aria-label="API reference"
        title="API reference"
      >
        <Icon name="book" />
        <span class="icon-text">API</span>
      </Link>
      <span class="wide-only">
        <IconButton icon="keyboard" label="Keys" text="Keys" onClick={openKeyboardHelp} />
      </span>
      <ThemeSwitch />
    </header>
  );
}
