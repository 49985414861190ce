import { CopyButton } from "./copy_button.tsx";

/** Code with its language and a button that copies it. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <div class="code" dir="ltr">
      <div class="code-head">
        <span>{language.split(/\s/)[0] || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </div>
      <pre tabIndex={0}><code>{text}</code></pre>
    </div>
  );
}
