import { formatDuration } from "../../../../shared/pages/format.ts";
import type { InteractionResult } from "../../../schemas/interaction_result.ts";
import { Section } from "../../frame.tsx";

/** The tools that the endpoint called for a reply, and those that were expected. */
export function ToolCalls({ interaction }: { interaction: InteractionResult }) {
  const { tool_calls = [], reference_tools, tools_mode = "exact" } = interaction;
  const expected = reference_tools?.map(({ name }) => name).join(", ") || "none";
  return (
    <Section
      title="Tool calls"
      {...(reference_tools && {
        hint: `Expected (${tools_mode.replaceAll("_", " ")}): ${expected}`,
      })}
    >
      {tool_calls.length === 0 && <p class="muted small">The endpoint called no tool.</p>}
      <ol class="reasons">
        {tool_calls.map(({ name, args, status, ms }, index) => (
          <li key={index}>
            <span class={`badge ${status === "error" ? "bad" : status === "ok" ? "good" : ""}`}>
              {status ?? "called"}
            </span>
            <span>
              <code>{name}</code>
              {ms !== null && <span class="muted">, {formatDuration(ms)}</span>}
              <div class="muted small">
                <code>{typeof args === "string" ? args : JSON.stringify(args)}</code>
              </div>
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
