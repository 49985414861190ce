import type { ComponentChildren } from "preact";
import type { CodePiece } from "../text/highlight_code.ts";
import { onDemand } from "../on_demand.ts";
import { CopyButton } from "./copy_button.tsx";

const highlighter = onDemand(() => import("../text/highlight_code.ts"));

/** Code with its language and a button that copies it. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const [name = ""] = language.toLowerCase().split(/\s/);
  const pieces = name && highlighter()?.highlightCode(text, name);
  return (
    <div class="code" dir="ltr">
      <div class="code-head">
        <span>
          {name || "text"}
          {name === "mermaid" && <span class="muted">: a diagram, shown as its source</span>}
        </span>
        <CopyButton text={text} label="Copy code" />
      </div>
      <pre tabIndex={0}><code>{pieces ? pieces.map(show) : text}</code></pre>
    </div>
  );
}

/** `title.function` is of the kind `title`, too. */
function show(piece: CodePiece, index: number): ComponentChildren {
  if (typeof piece === "string") return piece;
  const classes = (piece.scope ?? "").split(".").map((part) => `code-${part.replaceAll("_", "-")}`);
  return <span key={index} class={classes.join(" ")}>{piece.children.map(show)}</span>;
}
