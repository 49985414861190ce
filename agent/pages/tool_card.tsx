import { Button } from "../../shared/pages/components/button.tsx";
import { Icon } from "../../shared/pages/components/icon.tsx";
import { formatDuration } from "../../shared/pages/format.ts";
import {
  type Answer,
  type Decision,
  isWaiting,
  type ToolPart,
} from "./conversation/conversation.ts";

/**
 * One call of a tool: a line, which opens to its arguments and its result. One that waits for the
 * person is open, with the buttons that decide.
 */
export function ToolCard({ call, status, onDecide }: {
  call: ToolPart;
  /** Of its answer. */
  status: Answer["status"];
  onDecide?: ((decision: Decision) => void) | undefined;
}) {
  const { name, args, result } = call;
  const decide = isWaiting(call) ? onDecide : undefined;
  return (
    <details class="tool" open={decide !== undefined}>
      <summary>
        <Icon name="tool" />
        <span class="tool-name">{name}</span>
        <span class="tool-preview" dir="auto">{preview(args)}</span>
        <State call={call} status={status} canDecide={decide !== undefined} />
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
      {decide && (
        <div class="tool-decision">
          <Button isSmall kind="primary" onClick={() => decide("approved")}>Approve</Button>
          <Button isSmall onClick={() => decide("refused")}>Refuse</Button>
        </div>
      )}
    </details>
  );
}

function State({ call, status, canDecide }: {
  call: ToolPart;
  status: Answer["status"];
  canDecide: boolean;
}) {
  const { result } = call;
  if (canDecide) return <span class="badge warn">waits for you</span>;
  if (isWaiting(call)) return <span class="badge">not run</span>;
  if (call.approval?.state === "refused") return <span class="badge">refused</span>;
  if (!result) {
    if (status === "streaming" || status === "elsewhere") {
      return <span class="badge accent">running</span>;
    }
    const isNext = status === "done" && call.approval; // once the others are decided
    return <span class="badge">{isNext ? "approved" : "not finished"}</span>;
  }
  return (
    <>
      {result.status === "error" && <span class="badge bad">error</span>}
      <span class="tool-time number">{formatDuration(result.ms)}</span>
    </>
  );
}

function preview(args: ToolPart["args"]): string {
  if (typeof args === "string") return args;
  return Object.values(args).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value)
  ).join(", ");
}
