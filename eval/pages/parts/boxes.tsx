import type { ComponentChildren } from "preact";
import { CopyButton } from "../../../shared/pages/components/copy_button.tsx";

/** A name and its value in a list of facts. */
export function Fact({ label, children }: {
  label: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Code or a command to copy. `copy` says what the button does. */
export function CodeText({ name, text, copy }: { name: string; text: string; copy: string }) {
  return (
    <div class="code" dir="ltr">
      <div class="code-head">
        <span>{name}</span>
        <CopyButton text={text} label={copy} />
      </div>
      <pre tabIndex={0}><code>{text}</code></pre>
    </div>
  );
}
