import { onDemand } from "../../../shared/pages/on_demand.ts";

const markdown = onDemand(() => import("../../../shared/pages/components/markdown.tsx"), {
  isInReport: true,
});

/** Whether a text has anything that Markdown shows in another way. */
export function hasMarkup(text: string): boolean {
  return /^\s*(#{1,6} |[-*+] |\d+[.)] |>|\||```|~~~)|\*\*|__|`|\]\(|\$\$|\\[([]/m.test(text);
}

/** A model's text as Markdown, by a script that is loaded when there is such a text; plain before. */
export function RichText({ text }: { text: string }) {
  const { Markdown } = markdown() ?? {};
  return Markdown ? <Markdown text={text} /> : <div class="plain-text" dir="auto">{text}</div>;
}
