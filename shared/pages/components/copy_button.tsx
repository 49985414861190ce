import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

/** Copies a text; says so for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
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
    />
  );
}
