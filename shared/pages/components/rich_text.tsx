import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

const markdown = signal<ComponentType<{ text: string }> | undefined>(undefined);
let loading: Promise<void> | undefined;

/** Whether a text has anything that Markdown shows in another way. */
export function hasMarkup(text: string): boolean {
  return /^\s*(#{1,6} |[-*+] |\d+[.)] |>|\||```|~~~)|\*\*|__|`|\]\(|\$\$|\\[([]/m.test(text);
}

/** A model's text as Markdown, by a script that is loaded when there is such a text; plain before. */
export function RichText({ text }: { text: string }) {
  const Loaded = markdown.value;
  if (Loaded) return <Loaded text={text} />;
  loading ??= import("./markdown.tsx").then(
    ({ Markdown }) => void (markdown.value = Markdown),
    () => void (loading = undefined), // offline: the text is there
  );
  return <div class="plain-text" dir="auto">{text}</div>;
}
