import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

/**
 * A dialog over the page, open as long as it is rendered. The browser keeps the focus inside and
 * returns it afterwards. Escape and the button call `onClose`; without it the dialog must be answered.
 * `hasEdits`: they ask first, and so does going back, because what was entered would be lost.
 */
export function Dialog({ title, isWide, hasEdits, onClose, children }: {
  title: string;
  isWide?: boolean;
  hasEdits?: boolean;
  onClose?: (() => void) | undefined;
  children: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isAsking, setAsking] = useState(false);
  const leave = () => hasEdits ? setAsking(true) : onClose?.();
  useLayoutEffect(() => { // before the browser goes back
    if (hasEdits) return holdBack(() => setAsking(true));
    setAsking(false);
  }, [hasEdits]);
  useLayoutEffect(() => { // before the next key is pressed
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== ref.current) return; // a file picker inside it was cancelled
        event.preventDefault();
        leave();
      }}
      onClose={() => ref.current?.showModal()} // browsers close at a second Escape, whatever we say
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose && <IconButton icon="close" label="Close" onClick={leave} />}
        {isAsking && hasEdits && <Unsaved onKeep={() => setAsking(false)} onDiscard={onClose!} />}
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** Asks whether the edits of a dialog are to be lost. Has the focus until it is answered. */
function Unsaved({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current!.querySelector("button")!.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <div class="notice warn" role="alert" ref={ref}>
      <Icon name="warning" />
      <div>
        What you changed is not saved.
        <div class="notice-actions">
          <Button isSmall onClick={onKeep}>Keep editing</Button>
          <Button isSmall kind="danger" onClick={onDiscard}>Discard the changes</Button>
        </div>
      </div>
    </div>
  );
}

/** For `hasEdits`: true if a value is another than before; a letter typed and deleted is no edit. */
export function differs(now: unknown, before: unknown): boolean {
  return now !== before && JSON.stringify(now, sorted) !== JSON.stringify(before, sorted);
}

/** For `JSON.stringify`: what was taken out and put back may stand elsewhere. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1));
}

/** Asks before something is lost. */
export function ConfirmDialog({ title, action, children, onConfirm, onClose }: {
  title: string;
  /** What the button says, such as `Delete`. */
  action: string;
  children: ComponentChildren;
  onConfirm: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <div class="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

/**
 * Calls `ask` in place of going back or forward, and lets the browser ask before the page is reloaded
 * or closed. Returns what ends that. A browser without the Navigation API goes back all the same.
 */
function holdBack(ask: () => void): () => void {
  function stay(event: Event & { navigationType?: string }): void {
    if (event.navigationType !== "traverse" || !event.cancelable) return;
    event.preventDefault();
    ask();
  }
  const askOnLeaving = (event: Event) => event.preventDefault();
  const { navigation } = globalThis as { navigation?: EventTarget };
  navigation?.addEventListener("navigate", stay);
  globalThis.addEventListener("beforeunload", askOnLeaving);
  return () => {
    navigation?.removeEventListener("navigate", stay);
    globalThis.removeEventListener("beforeunload", askOnLeaving);
  };
}
