import { Icon } from "../../shared/pages/components/icon.tsx";
import { formatDuration } from "../../shared/pages/format.ts";
import type { AnswerPart } from "./conversation.ts";

type ToolCall = Extract<AnswerPart, { type: "tool" }>;

/** One call of a tool: a line, which opens to its arguments and its result. */
export function ToolCard({ call }: { call: ToolCall }) {
  const { name, args, result } = call;
  return (
    <details class="tool">
      <summary>
        <Icon name="tool" />
        <span class="tool-name">{name}</span>
        <span class="tool-preview" dir="auto">{preview(args)}</span>
        <State result={result} />
        <span class="tool-arrow">
          <Icon name="down" />
        </span>
      </summary>
      <dl>
        <dt>Arguments</dt>
        <dd>
          <pre tabIndex={0}>{typeof args === "string" ? args : JSON.stringify(args, null, 2)}</pre>
        </dd>
        {result && (
          <>
            <dt>{result.status === "error" ? "Error" : "Result"}</dt>
            <dd>
              <pre tabIndex={0} dir="auto">{result.content}</pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function State({ result }: { result: ToolCall["result"] }) {
  if (!result) return <span class="badge accent">running</span>;
  return (
    <>
      {result.status === "error" && <span class="badge bad">error</span>}
      <span class="tool-time number">{formatDuration(result.ms)}</span>
    </>
  );
}

function preview(args: ToolCall["args"]): string {
  if (typeof args === "string") return args;
  return Object.values(args).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value)
  ).join(", ");
}
