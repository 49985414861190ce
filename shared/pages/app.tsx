import { effect } from "@preact/signals";
import { type ComponentChildren, render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { Button } from "./components/button.tsx";
import { Dialog } from "./components/dialog.tsx";
import { TextField } from "./components/field.tsx";
import { KeyboardHelp } from "./components/keyboard.tsx";
import { Link } from "./components/link.tsx";
import { Empty } from "./components/states.tsx";
import { followTheme } from "./components/theme_switch.tsx";
import { Tips } from "./components/tip.tsx";
import { Toasts } from "./components/toast.tsx";
import { BarePage } from "./components/top_bar.tsx";
import { followClock } from "./format.ts";
import { canBeSent, giveKey, keyRequest } from "./key.ts";
import { followAddressBar, matchPath, path, subject } from "./location.ts";

/** One view of a page. */
export interface View {
  /** Its address, such as `/ui/runs/:id`. */
  path: string;
  /** What the browser's tab shows before the name of the service. */
  title: string;
  render: (params: Record<string, string>) => ComponentChildren;
}

/** Shows the view of the address bar, and every one that the person goes to. */
export function startApp({ name, views }: { name: string; views: View[] }): void {
  followTheme();
  followClock();
  refuseDroppedFiles();
  followAddressBar();
  effect(() => {
    const found = findView(views, path.value);
    const parts = found ? [subject.value, found.view.title, name] : [name];
    document.title = parts.filter(Boolean).join(" · ");
  });
  render(<App name={name} views={views} />, document.getElementById("app")!);
}

function findView(views: View[], pathname: string) {
  for (const view of views) {
    const params = matchPath(view.path, pathname);
    if (params) return { view, params };
  }
  return undefined;
}

function App({ name, views }: { name: string; views: View[] }) {
  const [error] = useErrorBoundary();
  const found = findView(views, path.value);
  useMainFocus();
  return (
    <>
      {error
        ? <Broken name={name} />
        : found
        ? found.view.render(found.params)
        : <NotFound name={name} />}
      <KeyPrompt />
      <KeyboardHelp />
      <Toasts />
      <Tips />
    </>
  );
}

/** Moves the focus to the new view, because the link that had it is gone. */
function useMainFocus(): void {
  const before = useRef(path.value);
  useEffect(() => {
    if (path.value === before.current) return;
    before.current = path.value;
    if (document.activeElement !== document.body) return;
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [path.value]);
}

function NotFound({ name }: { name: string }) {
  return (
    <BarePage title={name}>
      <Empty icon="search" title="There is no such page">
        <p>The address may be mistyped, or what it named may be gone.</p>
        <Link class="button" href="/">Go to the start</Link>
      </Empty>
    </BarePage>
  );
}

function Broken({ name }: { name: string }) {
  return (
    <BarePage title={name}>
      <Empty icon="warning" title="This page has failed">
        <p>What you entered is kept. Reload the page; if it fails again, report what you did.</p>
        <Button onClick={() => globalThis.location.reload()}>Reload</Button>
      </Empty>
    </BarePage>
  );
}

/** Asks for the key whenever a request needs one. */
function KeyPrompt() {
  const asked = keyRequest.value;
  const [key, setKey] = useState("");
  if (!asked) return null;
  return (
    <Dialog title="This service needs a key">
      <form
        class="dialog-body-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() && canBeSent(key)) giveKey(key);
        }}
      >
        <TextField
          label="API key"
          hint="It is kept until you close this tab, and sent to this service only."
          error={!canBeSent(key)
            ? "It has a character that no key has, perhaps an invisible one. Type or copy it again."
            : asked.isRefused
            ? "The service did not accept this key."
            : undefined}
          type="password"
          autocomplete="off"
          autofocus
          value={key}
          onInput={setKey}
        />
        <div class="dialog-actions">
          <Button kind="primary" type="submit" disabled={!key.trim() || !canBeSent(key)}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * Refuses files that are dropped where nothing takes them: the browser would open the file in place of
 * the page, and what was entered would be gone.
 */
function refuseDroppedFiles(): void {
  for (const type of ["dragover", "drop"] as const) {
    document.addEventListener(type, (event) => {
      const { defaultPrevented: isTaken, dataTransfer } = event;
      if (isTaken || !dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      dataTransfer.dropEffect = "none";
    });
  }
}
