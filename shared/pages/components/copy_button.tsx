import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

/** Copies a text; says so for a moment. `hasText` shows the label beside the picture. */
export function CopyButton({ text, label = "Copy", hasText }: {
  text: string;
  label?: string;
  hasText?: boolean;
}) {
  const [isDone, setDone] = useState(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
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
