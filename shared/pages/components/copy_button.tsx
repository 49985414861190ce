import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

/**
 * The clipboard's own interface exists only on pages that came by HTTPS or from this machine. `near`
 * has the focus, before and after: while a dialog is open, nothing outside of it can be selected.
 */
async function copyText(text: string, near: HTMLElement): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  box.value = text;
  (near.closest("dialog") ?? document.body).append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
  near.focus();
}

/** Copies a text; says so for a moment. `hasText` shows the label beside the picture. */
export function CopyButton({ text, label = "Copy", hasText }: {
  text: string;
  label?: string;
  hasText?: boolean;
}) {
  const [isDone, setDone] = useState(false);
  async function copy({ currentTarget }: { currentTarget: HTMLElement }): Promise<void> {
    await copyText(text, currentTarget);
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  }
  return (
    <Button
      kind="quiet"
      isSmall
      icon={isDone ? "check" : "copy"}
      aria-label={isDone ? "Copied" : label}
      onClick={copy}
    >
      {hasText && label}
    </Button>
  );
}
